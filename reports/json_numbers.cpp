#include "reports/json_numbers.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hot::reports {
namespace {

constexpr std::size_t kNamedPlaces = 20;
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

bool is_integer(const Metric& metric) {
  const bool counted = metric.info->unit == "count" || metric.info->unit == "bytes";
  return counted && std::abs(metric.value) < kExactIntegers &&
         metric.value == std::trunc(metric.value);
}

}  // namespace

Json JsonNumbers::number(double value, const std::string& place) {
  if (std::isfinite(value)) return value;
  places_.push_back(fmt::format("{} is {} and written as null", place,
                                std::isnan(value) ? "not a number" : "infinite"));
  return nullptr;
}

Json JsonNumbers::metrics(const Metrics& metrics, const std::string& place) {
  Json object = Json::object();
  for (const Metric& metric : metrics.all()) {
    const std::string where = fmt::format("{} {}", place, metric.info->name);
    Json entry;
    entry["value"] = is_integer(metric) ? Json(static_cast<std::int64_t>(metric.value))
                                        : number(metric.value, where);
    entry["origin"] = to_string(metric.origin);
    if (metric.ci95) entry["ci95"] = number(*metric.ci95, where + " (ci95)");
    object[std::string(metric.info->name)] = std::move(entry);
  }
  return object;
}

std::vector<std::string> JsonNumbers::notes() const {
  std::vector<std::string> notes(
      places_.begin(),
      places_.begin() + static_cast<std::ptrdiff_t>(std::min(places_.size(), kNamedPlaces)));
  if (places_.size() > kNamedPlaces) {
    notes.push_back(fmt::format("{} more numbers are not finite and written as null",
                                places_.size() - kNamedPlaces));
  }
  return notes;
}

Json metric_legend() {
  Json legend = Json::object();
  for (const MetricInfo& info : metric_infos()) {
    legend[std::string(info.name)] = {{"unit", info.unit}, {"description", info.description}};
  }
  return legend;
}

}  // namespace hot::reports
