#include "reports/plan_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text.hpp"

namespace hot::reports {

std::string error_text(const Report& report, const std::string& layer, Path path,
                       const Scheme& scheme) {
  if (scheme.is_exact()) return "-";
  const ErrorRow* row = report.errors ? report.errors->find(layer, path, scheme) : nullptr;
  const Metric* error = row == nullptr ? nullptr : row->metrics.find("relative_error");
  if (error == nullptr) return "?";
  return fmt::format("{}{}", error->origin == Origin::measured ? "" : "~",
                     value_text(error->value, ""));
}

std::string why_text(const Why& why) {
  if (why.runner_up.empty()) return why.constraint;
  const std::string cost =
      why.margin < 0.005 ? "at the same cost" : fmt::format("cost {:+.0f} %", 100 * why.margin);
  return fmt::format("{}; next {}, {}", why.constraint, why.runner_up, cost);
}

const LayerTrace* traced(const Report& report, const std::string& name) {
  if (!report.trace) return nullptr;
  const auto& layers = report.trace->layers;
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [&](const LayerTrace& layer) { return layer.name == name; });
  return found == layers.end() ? nullptr : &*found;
}

}  // namespace hot::reports
