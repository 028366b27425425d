#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analyzers/profile/optimizer.hpp"
#include "analyzers/profile/probes.hpp"
#include "analyzers/profile/time_parts.hpp"

namespace hot::profile {

/// When timing stops: the 95 % intervals of the plain step and of what watching adds are under 3 %,
/// or a limit is reached.
struct TimeOptions {
  int repeats = 20;
  double seconds = 60;  ///< once the steps took this long, two rounds are enough
  double interval = 0.03;
  double step_seconds = 0;  ///< about; of steps longer than half a minute one round is enough
};

/// Protocol: of each kind one step that is logged and one that isn't, both untimed; then rounds of
/// a plain and a watched step, which of them first takes turns, and, with a plan, both again with
/// it; caches as the step before left them. Parts are means over the watched steps, freed of what a
/// hook costs; the whole is the plain steps'. `next` is told what comes.
[[nodiscard]] TimeComparison time_steps(const verify::StepSetting& setting,
                                        const verify::Replaced& replaced, const Trace& trace,
                                        Optimizer& optimizer, const Ceilings& ceilings,
                                        const TimeOptions& options,
                                        const std::function<void(std::string_view)>& next);

}  // namespace hot::profile
