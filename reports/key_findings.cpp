#include "reports/key_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "reports/profile_findings.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

using Found = std::optional<KeyFinding>;

std::string names(std::vector<std::string> all, std::size_t shown = 3) {
  const std::size_t count = all.size();
  all.resize(std::min(count, shown));
  return fmt::format("{}{}", fmt::join(all, ", "),
                     count > shown ? fmt::format(" and {} more", count - shown) : "");
}

Found failed_layers(const Report& report) {
  if (!report.verification) return std::nullopt;
  std::vector<std::string> failed;
  std::string reason;
  for (const LayerVerification& layer : report.verification->layers) {
    if (layer.outcome != Outcome::incorrect && layer.outcome != Outcome::unsupported) continue;
    failed.push_back(layer.name);
    if (reason.empty()) reason = layer.reason;
  }
  if (failed.empty()) return std::nullopt;
  return KeyFinding{
      "Layers that failed",
      fmt::format("{} of {} layers did not run as planned: {}. The first: {}.", failed.size(),
                  report.verification->layers.size(), names(failed), reason),
      "layers"};
}

bool is_faster(const Report& report) {
  const Metric* speedup = report.verification->total.find("speedup");
  return speedup != nullptr && speedup->value - speedup->ci95.value_or(0) > 1;
}

/// Layers whose plan is slower than exact by more than its interval: the point where the whole
/// isn't faster.
Found slow_layers(const Report& report) {
  if (!report.verification || is_faster(report)) return std::nullopt;
  std::vector<std::pair<double, std::string>> slow;
  std::size_t timed = 0;
  for (const LayerVerification& layer : report.verification->layers) {
    const Metric* speedup = layer.metrics.find("speedup");
    if (speedup == nullptr) continue;
    ++timed;
    if (speedup->value + speedup->ci95.value_or(0) >= 1) continue;
    slow.emplace_back(speedup->value, layer.name);
  }
  if (slow.empty()) return std::nullopt;
  std::sort(slow.begin(), slow.end());
  std::vector<std::string> listed;
  for (const auto& [speedup, name] : slow) {
    listed.push_back(fmt::format("{} ({:.2f}x)", name, speedup));
  }
  return KeyFinding{"Layers that get slower",
                    fmt::format("{} of {} timed layers {} slower than exact by more than the "
                                "noise (measured): {}.",
                                slow.size(), timed, slow.size() == 1 ? "is" : "are", names(listed)),
                    "costs"};
}

/// The layers that bring the first half of what all save of a number.
Found savers(const Report& report, const char* exact_name, const char* plan_name,
             const std::string& title) {
  std::vector<std::pair<double, std::string>> saved;
  double total = 0;
  for (const LayerVerification& layer : report.verification->layers) {
    const Metric* exact = layer.metrics.find(exact_name);
    const Metric* plan = layer.metrics.find(plan_name);
    if (exact == nullptr || plan == nullptr || exact->value <= plan->value) continue;
    saved.emplace_back(exact->value - plan->value, layer.name);
    total += exact->value - plan->value;
  }
  if (saved.empty()) return std::nullopt;
  std::sort(saved.rbegin(), saved.rend());
  std::vector<std::string> half;
  double sum = 0;
  for (const auto& [amount, name] : saved) {
    if (sum >= total / 2) break;
    sum += amount;
    half.push_back(name);
  }
  return KeyFinding{title,
                    fmt::format("{} of {} layers {} {:.0f} % of the {} that the plan's layers "
                                "save (measured): {}.",
                                half.size(), report.verification->layers.size(),
                                half.size() == 1 ? "brings" : "bring", 100 * sum / total,
                                value_text(total, metric_info(exact_name).unit), names(half)),
                    "costs"};
}

Found time_savers(const Report& report) {
  if (!report.verification || !is_faster(report)) return std::nullopt;
  return savers(report, "exact_ms", "plan_ms", "Where time is saved");
}

Found memory_savers(const Report& report) {
  if (!report.verification) return std::nullopt;
  return savers(report, "saved_bytes_exact", "saved_bytes_plan", "Where memory is saved");
}

Found largest_error(const Report& report) {
  if (!report.plan || !report.errors) return std::nullopt;
  const Metric* worst = nullptr;
  std::string where;
  for (const LayerPlan& layer : report.plan->layers) {
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      const Scheme& scheme = path == Path::grad_input ? layer.grad_input : layer.grad_weight;
      const ErrorRow* row = report.errors->find(layer.name, path, scheme);
      const Metric* error = row == nullptr ? nullptr : row->metrics.find("relative_error");
      if (error == nullptr || (worst != nullptr && error->value <= worst->value)) continue;
      worst = error;
      where =
          fmt::format("the {} gradient of {} ({})", path == Path::grad_input ? "input" : "weight",
                      layer.name, to_string(scheme));
    }
  }
  if (worst == nullptr) return std::nullopt;
  return KeyFinding{"Largest error",
                    fmt::format("Of the planned gradients {} has the largest relative error, {} "
                                "({}).",
                                where, value_text(worst->value, ""), to_string(worst->origin)),
                    "errors"};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What a Hadamard transform does to INT4, gradient by gradient.
Found transforms(const Report& report) {
  if (!report.errors) return std::nullopt;
  std::map<std::pair<std::string, Path>, std::array<double, 2>> lowest;
  for (const ErrorRow& row : report.errors->rows) {
    const Metric* error = row.metrics.find("relative_error");
    if (error == nullptr || row.scheme.format != Format::int4) continue;
    if (row.scheme.transform.kind == Transform::Kind::lowrank) continue;
    auto& [without, with] =
        lowest.try_emplace({row.layer, row.path}, std::array<double, 2>{-1, -1}).first->second;
    double& best = row.scheme.transform.kind == Transform::Kind::none ? without : with;
    if (best < 0 || error->value < best) best = error->value;
  }
  std::vector<double> plain;
  std::vector<double> transformed;
  for (const auto& [gradient, errors] : lowest) {
    if (errors[0] < 0 || errors[1] < 0) continue;
    plain.push_back(errors[0]);
    transformed.push_back(errors[1]);
  }
  if (plain.empty()) return std::nullopt;
  const auto helped = std::count_if(lowest.begin(), lowest.end(), [](const auto& entry) {
    return entry.second[0] > 0 && entry.second[1] > 0 && entry.second[1] < entry.second[0];
  });
  return KeyFinding{
      "What the transform brings",
      fmt::format("INT4's lowest error is {} in the median without a transform and {} with a "
                  "Hadamard transform, which helps {} of {} gradients (measured).",
                  value_text(median(plain), ""), value_text(median(transformed), ""), helped,
                  plain.size()),
      "errors"};
}

Found unchanged(const Report& report) {
  if (!report.trace || report.trace->backward_flops <= 0) return std::nullopt;
  std::int64_t flops = 0;
  std::vector<std::string> left;
  for (const LayerTrace& layer : report.trace->layers) {
    if (layer.eligible) continue;
    left.push_back(layer.name);
    flops += layer.path(Path::grad_input).flops + layer.path(Path::grad_weight).flops;
  }
  if (left.empty()) return std::nullopt;
  return KeyFinding{"What stays exact",
                    fmt::format("{} layers can't be changed and hold {:.0f} % of the backward "
                                "pass's FLOPs (counted from shapes): {}.",
                                left.size(),
                                100 * static_cast<double>(flops) /
                                    static_cast<double>(report.trace->backward_flops),
                                names(left)),
                    "layers"};
}

Found sizes(const Report& report) {
  if (!report.trace) return std::nullopt;
  return KeyFinding{"Size of the work",
                    fmt::format("{} layers, {} forward and {} backward; {} are kept for the "
                                "backward pass (measured).",
                                report.trace->layers.size(),
                                flops_text(static_cast<double>(report.trace->forward_flops)),
                                flops_text(static_cast<double>(report.trace->backward_flops)),
                                bytes_text(static_cast<double>(report.trace->saved_bytes))),
                    "layers"};
}

}  // namespace

std::vector<KeyFinding> key_findings(const Report& report, std::size_t count) {
  std::vector<KeyFinding> result;
  if (!report.verification) result = profile_findings(report);
  if (!result.empty()) {
    result.resize(std::min(result.size(), count));
    return result;
  }
  for (const auto find : {failed_layers, slow_layers, time_savers, memory_savers, largest_error,
                          transforms, unchanged, sizes}) {
    if (result.size() == count) break;
    if (Found found = find(report)) result.push_back(std::move(*found));
  }
  return result;
}

}  // namespace hot::reports
