#include <cmath>

#include "reports/compare_formats.hpp"
#include "reports/compare_text.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {
namespace {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json side(const Metric& metric) {
  Json json = {{"value", number(metric.value)}, {"origin", to_string(metric.origin)}};
  if (metric.ci95) json["ci95"] = number(*metric.ci95);
  return json;
}

Json difference_json(const Difference& d) {
  Json json = {{"metric", d.info().name},
               {"unit", d.info().unit},
               {"a", side(d.a)},
               {"b", side(d.b)},
               {"relative", number(d.relative())}};
  if (d.ci95) json["ci95"] = number(*d.ci95);
  json["change"] = to_string(d.change);
  return json;
}

Json picks_json(const Comparison& c) {
  Json picks = Json::array();
  for (const PickChange& pick : c.picks) {
    Json json = {{"layer", pick.layer}, {"path", to_string(pick.path)}};
    json["a"] = pick.a.empty() ? Json(nullptr) : Json(pick.a);
    json["b"] = pick.b.empty() ? Json(nullptr) : Json(pick.b);
    if (pick.error) json["error"] = difference_json(*pick.error);
    picks.push_back(std::move(json));
  }
  return picks;
}

Json layers_json(const Comparison& c) {
  Json layers = Json::array();
  for (const LayerDifference& layer : c.layers) {
    Json json = {{"layer", layer.layer}, {"path", layer.path}};
    if (!layer.scheme.empty()) json["scheme"] = layer.scheme;
    json.update(difference_json(layer.difference));
    layers.push_back(std::move(json));
  }
  return layers;
}

}  // namespace

std::string write_comparison_json(const Comparison& c, const std::vector<Check>& checks,
                                  const Style&) {
  Json json;
  json["schema"] = "hot-analyze.comparison.v1";
  json["a"] = {{"file", c.name_a}, {"verdict", c.verdict_a}};
  json["b"] = {{"file", c.name_b}, {"verdict", c.verdict_b}};
  json["overall"] = overall(c);
  json["checks"] = Json::array();
  for (const Check& check : checks) {
    json["checks"].push_back(
        {{"condition", check.condition}, {"failed", check.failed}, {"reason", check.reason}});
  }
  json["whole"] = Json::array();
  for (const Difference& d : c.whole) json["whole"].push_back(difference_json(d));
  json["gradients"] = c.gradients;
  json["picks"] = picks_json(c);
  json["layers"] = layers_json(c);
  json["notes"] = c.notes;
  return json_text(json);
}

const std::vector<ComparisonFormat>& comparison_formats() {
  static const std::vector<ComparisonFormat> table = {
      {"json", "the comparison as JSON", "--json", write_comparison_json},
      {"markdown", "the comparison in Markdown for a pull request", "--markdown",
       write_comparison_markdown},
      {"terminal", "the comparison for people", "", write_comparison},
  };
  return table;
}

}  // namespace hot::reports
