#include "reports/html_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/html_profile_data.hpp"
#include "reports/plan_facts.hpp"
#include "reports/sections.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::array kPaths = {Path::grad_input, Path::grad_weight};
constexpr std::array kOrigins = {Origin::measured, Origin::modelled, Origin::simulated};

Json metrics_json(const Metrics& metrics) {
  Json list = Json::array();
  for (const Metric& metric : metrics.all()) {
    Json entry = {metric.info - metric_infos().data(), rounded_json(metric.value),
                  static_cast<int>(metric.origin)};
    if (metric.ci95) entry.push_back(rounded_json(*metric.ci95));
    list.push_back(std::move(entry));
  }
  return list;
}

Json legend() {
  Json list = Json::array();
  for (const MetricInfo& info : metric_infos()) {
    list.push_back({spaced(info.name), info.unit, info.description});
  }
  return list;
}

class Data {
 public:
  explicit Data(const Report& report) : report_(report) {
    for (const LayerTrace& layer : report.trace->layers) {
      layers_.emplace(layer.name, layers_.size());
    }
    if (report.errors) number_schemes();
  }

  Json json() {
    Json origins = Json::array();
    for (const Origin origin : kOrigins) origins.push_back(to_string(origin));
    Json result = {{"metrics", legend()},
                   {"origins", origins},
                   {"schemes", schemes_json()},
                   {"layers", layers_json()},
                   {"errors", errors_json()}};
    add_rows(result);
    if (report_.verification) result["total"] = metrics_json(report_.verification->total);
    result["front"] = html_front(report_);
    result["memory"] = html_memory(report_);
    result["roofline"] = html_roofline(report_);
    result["steps"] = html_steps(report_);
    return result;
  }

 private:
  /// Schemes in the order in which they sort: by transform, format, granularity, rounding.
  void number_schemes() {
    for (const ErrorRow& row : report_.errors->rows) schemes_.emplace(row.scheme, 0);
    std::size_t index = 0;
    for (auto& [scheme, number] : schemes_) number = index++;
  }

  /// Name, and the kind ("had+int4") that it is one of.
  Json schemes_json() const {
    Json list = Json::array();
    for (const auto& [scheme, number] : schemes_) {
      const std::string text = to_string(scheme);
      const std::string transform = scheme.transform.kind == Transform::Kind::none
                                        ? "none"
                                        : text.substr(0, text.find_first_of("0123456789"));
      const auto plus = text.find('+');
      const std::string format =
          plus == std::string::npos ? "" : text.substr(plus, text.find('/') - plus);
      list.push_back({text, transform + format});
    }
    return list;
  }

  Json pick_json(const LayerPlan* plan, Path path) const {
    if (plan == nullptr) return nullptr;
    const Scheme& scheme = path == Path::grad_input ? plan->grad_input : plan->grad_weight;
    if (scheme.is_exact()) return -1;
    const auto found = schemes_.find(scheme);
    // A plan that was given can name schemes that nobody measured here.
    return found == schemes_.end() ? Json(to_string(scheme)) : Json(found->second);
  }

  Json layers_json() const {
    Json list = Json::array();
    for (const LayerTrace& layer : report_.trace->layers) {
      const LayerPlan* plan = report_.plan ? report_.plan->find(layer.name) : nullptr;
      Json json = {{"name", layer.name},
                   {"kind", to_string(layer.kind)},
                   {"weight", shape_text(layer.weight_shape)},
                   {"saved", layer.saved_activation_bytes},
                   {"reason", layer.reason},
                   {"notes", layer.notes}};
      for (const Path path : kPaths) {
        Json entry = {{"product", product_text(layer.path(path))},
                      {"calls", layer.path(path).calls},
                      {"flops", layer.path(path).flops},
                      {"pick", pick_json(plan, path)}};
        if (plan != nullptr) {
          entry["why"] =
              why_text(path == Path::grad_input ? plan->why_grad_input : plan->why_grad_weight);
        }
        json["paths"].push_back(std::move(entry));
      }
      list.push_back(std::move(json));
    }
    if (report_.errors) {
      for (const LayerFacts& facts : report_.errors->facts) {
        const auto layer = layers_.find(facts.layer);
        if (layer != layers_.end()) list[layer->second]["facts"] = metrics_json(facts.metrics);
      }
    }
    if (report_.verification) {
      for (const LayerVerification& verified : report_.verification->layers) {
        const auto layer = layers_.find(verified.name);
        if (layer == layers_.end()) continue;
        list[layer->second]["verified"] = {{"outcome", to_string(verified.outcome)},
                                           {"reason", verified.reason},
                                           {"ran", verified.kernel_calls},
                                           {"expected", verified.expected_calls},
                                           {"metrics", metrics_json(verified.metrics)}};
      }
    }
    return list;
  }

  Json errors_json() const {
    Json none(std::vector<Json>(schemes_.size(), nullptr));
    Json result = Json::array();
    for (std::size_t path = 0; path < kPaths.size(); ++path) {
      result.push_back(std::vector<Json>(layers_.size(), none));
    }
    if (!report_.errors) return result;
    for (const ErrorRow& row : report_.errors->rows) {
      const Metric* error = row.metrics.find("relative_error");
      const auto layer = layers_.find(row.layer);
      if (error == nullptr || layer == layers_.end()) continue;
      result[path_index(row.path)][layer->second][schemes_.at(row.scheme)] =
          rounded_json(error->value);
    }
    return result;
  }

  /// 0 for a pick, 1 for a pick's runner-up, 2 for the rest.
  int rank(const ErrorRow& row) const {
    const LayerPlan* plan = report_.plan ? report_.plan->find(row.layer) : nullptr;
    if (plan == nullptr) return 2;
    const bool input = row.path == Path::grad_input;
    if ((input ? plan->grad_input : plan->grad_weight) == row.scheme) return 0;
    const Why& why = input ? plan->why_grad_input : plan->why_grad_weight;
    return why.runner_up == to_string(row.scheme) ? 1 : 2;
  }

  void add_rows(Json& result) const {
    Json rows = Json::object();
    std::size_t left_out = 0;
    std::size_t bytes = 0;
    std::array<std::vector<const ErrorRow*>, 3> by_rank;
    if (report_.errors) {
      for (const ErrorRow& row : report_.errors->rows) {
        by_rank[static_cast<std::size_t>(rank(row))].push_back(&row);
      }
    }
    for (const auto& group : by_rank) {
      for (const ErrorRow* row : group) {
        const auto layer = layers_.find(row->layer);
        if (layer == layers_.end()) continue;
        Json metrics = metrics_json(row->metrics);
        bytes += metrics.dump().size() + 16;
        if (bytes > kHtmlMetricBytes) {
          ++left_out;
          continue;
        }
        rows[fmt::format("{}.{}.{}", layer->second, path_index(row->path),
                         schemes_.at(row->scheme))] = std::move(metrics);
      }
    }
    result["rows"] = std::move(rows);
    result["rows_left_out"] = left_out;
  }

  static std::size_t path_index(Path path) { return path == Path::grad_input ? 0 : 1; }

  const Report& report_;
  std::map<std::string, std::size_t> layers_;
  std::map<Scheme, std::size_t> schemes_;
};

}  // namespace

Json html_data(const Report& report) {
  if (!report.trace) return nullptr;
  return Data(report).json();
}

}  // namespace hot::reports
