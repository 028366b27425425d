#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/verify/step_run.hpp"
#include "core/profile.hpp"

namespace hot::profile {

/// Minibatches and loss for a batch size; throws what making inputs throws.
using BatchMaker = std::function<std::pair<models::Inputs, models::Loss>(std::int64_t batch)>;

/// Bytes that one step needs: parameters, buffers, optimizer states and the peak above them, from
/// the allocator's reports of a real step with a real optimizer.
[[nodiscard]] std::int64_t step_bytes(const verify::StepSetting& setting,
                                      const verify::Replaced& replaced,
                                      const std::string& optimizer);

/// Least squares through the points (batch, value); nullopt for fewer than two different batches.
[[nodiscard]] std::optional<LineFit> fit_line(const std::vector<std::pair<double, double>>& points);

/// Measures every batch size: time of an exact step (the fastest of three), and bytes, exact and
/// with the plan. One that doesn't fit ends the sweep, and its reason is kept.
[[nodiscard]] BatchSweep sweep(const models::Model& model, const BatchMaker& maker,
                               std::uint64_t seed, const std::vector<std::int64_t>& batches,
                               const verify::Replaced& replaced, const std::string& optimizer,
                               const std::function<void(std::string_view)>& next);

/// "a step of batch 512 needs about 90 GB (modelled from batches 32 and 64), 12 GB are available;
/// --batch 64 would fit", two fifths of them left free; empty where that can't be found out.
[[nodiscard]] std::string advise_batch(const models::Model& model, const BatchMaker& maker,
                                       std::uint64_t seed, std::int64_t wanted,
                                       std::int64_t available);

/// Size of the first dimension of the first tensor among a method's arguments; 0 where there is
/// none.
[[nodiscard]] std::int64_t batch_of(const models::Batch& batch);

}  // namespace hot::profile
