#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analyzers/profile/optimizer.hpp"
#include "analyzers/profile/probes.hpp"
#include "analyzers/profile/time_parts.hpp"

namespace hot::profile {

/// When timing stops: the 95 % intervals of the plain step and of the speed-up are under 3 %, or a
/// limit is reached.
struct TimeOptions {
  int repeats = 20;
  double seconds = 60;  ///< once the steps took this long, two rounds are enough
  double interval = 0.03;
  double watching_interval = 0.015;  ///< of what watching adds, with more rounds of the exact step
  int watching_repeats = 400;        ///< rounds of the exact step for it, at most
  double watching_seconds = 20;      ///< once those took this long, no more
  double step_seconds = 0;  ///< about; of steps longer than half a minute one round is enough
};

/// Protocol: of each kind one step that is logged and one that isn't, both untimed; then rounds of
/// a plain and a watched step and, with a plan, both again with it; every other round runs in
/// reverse order, so that who goes first changes no mean; caches as the step before left them. Last
/// further exact rounds, where what watching adds isn't known well yet. In short steps forward and
/// backward are watched in turns, so that watching stays a small part of them. Parts are means over
/// the watched steps, freed of what a hook costs; the whole is the plain steps'. `next` is told
/// what comes.
[[nodiscard]] TimeComparison time_steps(const verify::StepSetting& setting,
                                        const verify::Replaced& replaced, const Trace& trace,
                                        Optimizer& optimizer, const Ceilings& ceilings,
                                        const TimeOptions& options,
                                        const std::function<void(std::string_view)>& next);

}  // namespace hot::profile
