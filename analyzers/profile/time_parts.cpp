#include "analyzers/profile/time_parts.hpp"

#include <algorithm>

namespace hot::profile {
namespace {

constexpr unsigned bit(Path path) {
  return 1U << static_cast<unsigned>(path);
}

double& seconds_of(LayerTimes& layer, Path path) {
  return layer.seconds[static_cast<std::size_t>(path)];
}

/// A slice's own time to the paths that it ran.
void add(LayerTimes& layer, const Slice& slice, const InputShares& shares) {
  constexpr unsigned both = bit(Path::grad_input) | bit(Path::grad_weight);
  if (slice.paths == both) {
    const auto share = shares.find(layer.name);
    const double input = share == shares.end() ? 0.5 : share->second;
    seconds_of(layer, Path::grad_input) += slice.own * input;
    seconds_of(layer, Path::grad_weight) += slice.own * (1 - input);
    return;
  }
  for (const Path path : {Path::forward, Path::grad_input, Path::grad_weight}) {
    if (slice.paths == bit(path)) {
      seconds_of(layer, path) += slice.own;
      return;
    }
  }
  layer.rest += slice.own;
}

/// The products of a replaced layer ran inside our own kernels, which timed them.
void split_replaced(LayerTimes& layer, const backward::LayerRuns& runs) {
  const double node =
      layer.rest + seconds_of(layer, Path::grad_input) + seconds_of(layer, Path::grad_weight);
  seconds_of(layer, Path::grad_input) = runs.grad_input_seconds;
  seconds_of(layer, Path::grad_weight) = runs.grad_weight_seconds;
  layer.rest = std::max(0.0, node - runs.grad_input_seconds - runs.grad_weight_seconds);
}

std::vector<OpTimes> longest_first(const std::map<std::string, OpTimes>& ops) {
  std::vector<OpTimes> result;
  for (const auto& [name, op] : ops) result.push_back(op);
  std::stable_sort(result.begin(), result.end(),
                   [](const OpTimes& a, const OpTimes& b) { return a.seconds > b.seconds; });
  return result;
}

LayerTimes layer_of(const LayerTrace& trace) {
  LayerTimes layer;
  layer.name = trace.name;
  layer.eligible = trace.eligible;
  for (std::size_t p = 0; p < 3; ++p) layer.flops[p] = trace.work[p].flops;
  return layer;
}

std::vector<OpTimes> mean_ops(const std::vector<TimeProfile>& steps,
                              std::vector<OpTimes> TimeProfile::*ops) {
  std::map<std::string, OpTimes> sums;
  for (const TimeProfile& step : steps) {
    for (const OpTimes& op : step.*ops) {
      auto& sum = sums[op.name];
      sum.name = op.name;
      sum.calls = op.calls;
      sum.bytes = op.bytes;
      sum.seconds += op.seconds / static_cast<double>(steps.size());
    }
  }
  return longest_first(sums);
}

}  // namespace

TimeProfile sort_parts(const std::vector<Slice>& slices, const StepLog& log, const Trace& trace,
                       const InputShares& shares,
                       const std::map<std::string, backward::LayerRuns>& runs) {
  TimeProfile profile;
  std::map<std::string, std::size_t> index;
  for (const LayerTrace& layer : trace.layers) {
    index[layer.name] = profile.layers.size();
    profile.layers.push_back(layer_of(layer));
  }
  const auto& sites = log.sites();
  for (std::size_t i = 0; i < sites.size() && i < log.site_bytes().size(); ++i) {
    const auto found = index.find(sites[i].name);
    if (found == index.end()) continue;
    auto& layer = profile.layers[found->second];
    for (std::size_t p = 0; p < 3; ++p) {
      if (trace.layers[found->second].work[p].calls > 0) layer.bytes[p] = log.site_bytes()[i];
    }
  }
  std::map<std::string, OpTimes> forward, backward;
  for (const Slice& slice : slices) {
    if (slice.phase == Phase::optimizer) continue;
    const auto site = static_cast<std::size_t>(slice.site);
    const auto found =
        slice.site >= 0 && site < sites.size() ? index.find(sites[site].name) : index.end();
    if (found != index.end()) {
      add(profile.layers[found->second], slice, shares);
      continue;
    }
    if (slice.own <= 0) continue;
    auto& op = (slice.phase == Phase::forward ? forward : backward)[slice.name];
    op.name = slice.name;
    op.seconds += slice.own;
    op.bytes += slice.bytes;
    ++op.calls;
  }
  for (auto& layer : profile.layers) {
    if (const auto found = runs.find(layer.name); found != runs.end())
      split_replaced(layer, found->second);
  }
  profile.forward_ops = longest_first(forward);
  profile.backward_ops = longest_first(backward);
  return profile;
}

TimeProfile mean_of(const std::vector<TimeProfile>& steps) {
  TimeProfile mean;
  if (steps.empty()) return mean;
  mean = steps.front();
  const auto n = static_cast<double>(steps.size());
  for (std::size_t l = 0; l < mean.layers.size(); ++l) {
    auto& layer = mean.layers[l];
    layer.seconds = {};
    layer.rest = 0;
    for (const TimeProfile& step : steps) {
      for (std::size_t p = 0; p < 3; ++p) layer.seconds[p] += step.layers[l].seconds[p] / n;
      layer.rest += step.layers[l].rest / n;
    }
  }
  mean.forward_ops = mean_ops(steps, &TimeProfile::forward_ops);
  mean.backward_ops = mean_ops(steps, &TimeProfile::backward_ops);
  mean.between = mean.optimizer = 0;
  for (const TimeProfile& step : steps) {
    mean.between += step.between / n;
    mean.optimizer += step.optimizer / n;
  }
  return mean;
}

}  // namespace hot::profile
