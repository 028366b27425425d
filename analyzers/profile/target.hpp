#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.hpp"
#include "core/profile.hpp"

namespace hot::profile {

/// Published dense rates of devices that a plan may be meant for.
[[nodiscard]] const std::vector<TargetRates>& known_targets();

/// Time of forward and backward on a device with these rates: every product takes the longer of its
/// arithmetic and its bytes, everything else its bytes; planned products add one pass that
/// transforms and rounds. No launches, no overlap. Seconds.
[[nodiscard]] double model_seconds(const TimeProfile& step, const Plan* plan,
                                   const TargetRates& rates);

/// The model for `rates`, beside its error here: the same with this machine's own ceilings against
/// `measured_ms`. `bytes` is what the step needs.
[[nodiscard]] TargetModel model_target(const TimeProfile& step, const Plan* plan,
                                       const TargetRates& rates, const TargetRates& here,
                                       double measured_ms, std::int64_t bytes);

}  // namespace hot::profile
