#include "reports/scheme_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace hot::reports {
namespace {

using Key = std::pair<std::string, Path>;
using Found = std::optional<SchemeFinding>;

std::string name_of(const Key& key) {
  return fmt::format("{} ({})", key.first, key.second == Path::grad_input ? "input" : "weight");
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Least relative error of each gradient over the schemes that `wanted` takes.
std::map<Key, double> least_errors(const ErrorTable& errors,
                                   const std::function<bool(const Scheme&)>& wanted) {
  std::map<Key, double> least;
  for (const ErrorRow& row : errors.rows) {
    const Metric* error = row.metrics.find("relative_error");
    if (error == nullptr || !wanted(row.scheme)) continue;
    const auto [place, fresh] = least.try_emplace({row.layer, row.path}, error->value);
    if (!fresh) place->second = std::min(place->second, error->value);
  }
  return least;
}

/// Half of the rows of a random basis keep half of the energy: an error of √½.
Found low_rank(const ErrorTable& errors) {
  const double chance = std::sqrt(0.5);
  SchemeFinding finding;
  const auto least = least_errors(errors, [](const Scheme& s) {
    return s.transform.kind == Transform::Kind::lowrank && s.transform.order > 1 &&
           2 * s.transform.rank == s.transform.order;
  });
  for (const auto& [key, error] : least) {
    if (error >= chance) finding.layers.push_back(name_of(key));
  }
  if (finding.layers.empty()) return std::nullopt;
  finding.sentence = fmt::format(
      "Low rank does nothing in {} of {} gradients: half of the rows keep no more of them than "
      "chance would, relative error {:.2f} or more (measured)",
      finding.layers.size(), least.size(), chance);
  return finding;
}

/// Whether the large values of an operand of this gradient run along the contraction.
bool misses(const ErrorTable& errors, const Key& key) {
  for (const LayerFacts& facts : errors.facts) {
    if (facts.layer != key.first) continue;
    return std::any_of(facts.operands.begin(), facts.operands.end(), [&](const OperandFacts& o) {
      return o.path == key.second && o.transform_misses();
    });
  }
  return false;
}

Found transform_hurts(const ErrorTable& errors) {
  constexpr double kWorse = 1.1;
  const auto of_kind = [&](Transform::Kind kind) {
    return least_errors(errors, [kind](const Scheme& s) {
      return s.format == Format::int4 && s.transform.kind == kind;
    });
  };
  const auto with = of_kind(Transform::Kind::hadamard);
  SchemeFinding finding;
  std::size_t explained = 0;
  for (const auto& [key, plain] : of_kind(Transform::Kind::none)) {
    const auto transformed = with.find(key);
    if (transformed == with.end() || transformed->second < kWorse * plain) continue;
    finding.layers.push_back(name_of(key));
    if (misses(errors, key)) ++explained;
  }
  if (finding.layers.empty()) return std::nullopt;
  finding.sentence = fmt::format(
      "A Hadamard transform hurts INT4 in {} of {} gradients (least error over 10 % higher with "
      "it, "
      "measured){}",
      finding.layers.size(), with.size(),
      explained > 0 ? fmt::format("; in {} of them an operand's outliers lie along the other "
                                  "dimension, where the transform has nothing to spread them over",
                                  explained)
                    : "");
  return finding;
}

Found int4_time(const ErrorTable& errors) {
  constexpr double kGain = 0.95;
  std::map<std::pair<Key, Scheme>, std::pair<double, double>> pairs;  // int4, int8
  for (const ErrorRow& row : errors.rows) {
    const Metric* ms = row.metrics.find("time_ms");
    const bool four = row.scheme.format == Format::int4;
    if (ms == nullptr || ms->origin != Origin::measured) continue;
    if (!four && row.scheme.format != Format::int8) continue;
    Scheme key = row.scheme;
    key.format = Format::int8;
    auto& [int4, int8] = pairs[{{row.layer, row.path}, key}];
    (four ? int4 : int8) = ms->value;
  }
  std::vector<double> ratios;
  SchemeFinding finding;
  for (const auto& [key, ms] : pairs) {
    if (ms.first <= 0 || ms.second <= 0) continue;
    ratios.push_back(ms.first / ms.second);
    const std::string name = name_of(key.first);
    if (ratios.back() > kGain &&
        std::find(finding.layers.begin(), finding.layers.end(), name) == finding.layers.end())
      finding.layers.push_back(name);
  }
  if (ratios.empty() || median(ratios) <= kGain) return std::nullopt;
  finding.sentence = fmt::format(
      "INT4 buys no time on this device: it takes {:.2f} times as long as INT8 in the median of {} "
      "pairs of schemes that differ in nothing else (measured)",
      median(ratios), ratios.size());
  return finding;
}

/// Zeros that blocks of 16 add to the contraction.
Found padding(const Report& report) {
  constexpr std::int64_t kBlock = 16;
  constexpr double kWorthTelling = 0.05;
  SchemeFinding finding;
  double most = 0;
  for (const LayerTrace& layer : report.trace->layers) {
    if (!layer.eligible) continue;
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      const PathWork& work = layer.path(path);
      if (work.gemms.empty()) continue;
      const std::int64_t k = work.gemms.front().k;
      const std::int64_t padded = (k + kBlock - 1) / kBlock * kBlock;
      const double waste = 1 - static_cast<double>(k) / static_cast<double>(padded);
      if (waste < kWorthTelling) continue;
      most = std::max(most, waste);
      finding.layers.push_back(name_of({layer.name, path}));
    }
  }
  if (finding.layers.empty()) return std::nullopt;
  finding.sentence = fmt::format(
      "Padding to blocks of {} wastes {}{:.0f} % of a transformed product (counted from shapes)",
      kBlock, finding.layers.size() > 1 ? "up to " : "", 100 * most);
  return finding;
}

}  // namespace

std::string SchemeFinding::text() const {
  constexpr std::size_t kNamed = 4;
  const std::vector<std::string> named(
      layers.begin(),
      layers.begin() + static_cast<std::ptrdiff_t>(std::min(layers.size(), kNamed)));
  return fmt::format(
      "{} ({}{}).", sentence, fmt::join(named, ", "),
      layers.size() > kNamed ? fmt::format(" and {} more", layers.size() - kNamed) : "");
}

std::vector<SchemeFinding> scheme_findings(const Report& report) {
  std::vector<SchemeFinding> all;
  const auto add = [&all](Found found) {
    if (found) all.push_back(*std::move(found));
  };
  if (report.errors) {
    add(low_rank(*report.errors));
    add(transform_hurts(*report.errors));
    add(int4_time(*report.errors));
  }
  if (report.errors && report.trace) add(padding(report));
  return all;
}

}  // namespace hot::reports
