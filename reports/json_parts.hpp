#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/metric.hpp"
#include "core/plan.hpp"
#include "reports/json_reader.hpp"

namespace hot::reports {

/// Parts that reports and plans share, read back. All functions throw UsageError with the part's
/// path.

/// The scheme, which must be legal on `path`.
[[nodiscard]] Scheme read_scheme(const JsonPart& part, Path path);

[[nodiscard]] std::vector<std::int64_t> read_shape(const JsonPart& part);
[[nodiscard]] std::vector<std::string> read_texts(const JsonPart& part);

/// Values of null (they were no finite numbers) are left out. Metrics that this version doesn't
/// know are refused, or where `unknown` is given left out and named there, each once.
[[nodiscard]] Metrics read_metrics(const JsonPart& part,
                                   std::vector<std::string>* unknown = nullptr);

/// Layers of a plan; none may stand twice.
[[nodiscard]] std::vector<LayerPlan> read_plan_layers(const JsonPart& part);

/// The one of `values` whose to_string() is the part's text.
template <typename Value, std::size_t count>
[[nodiscard]] Value read_name(const JsonPart& part, const std::array<Value, count>& values) {
  const std::string text = part.text();
  std::string known;
  for (const Value value : values) {
    if (text == to_string(value)) return value;
    known += known.empty() ? "" : ", ";
    known += to_string(value);
  }
  part.refuse("'" + text + "' is none of " + known);
}

/// Reads the keys "front" and "notes" of a plan, where it has them.
void read_plan_extras(const JsonPart& part, Plan& plan);

}  // namespace hot::reports
