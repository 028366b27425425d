#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/verification.hpp"

namespace hot::verify {

struct Options {
  std::uint64_t seed = 0;
  int repeats = 3;  ///< interleaved pairs of exact and planned steps that are timed, at most
  bool until_decided = true;  ///< fewer where their interval tells which is faster
  double seconds = 20;        ///< once the pairs took this long, two are enough
  /// Asked after a first pair: a mended plan that is verified in its place, or nullopt to go on.
  /// `notes` goes into the verification's. Empty: the plan is verified as it is.
  std::function<std::optional<Plan>(const Plan& plan, const std::vector<LayerVerification>& layers,
                                    const Metrics& total, std::vector<std::string>& notes)>
      repair;
  /// Which limit of the plan these totals miss, as a phrase; empty where they hold all. Empty
  /// function: the plan was made for none.
  std::function<std::string(const Metrics& total)> missed;
  int rounds = 3;  ///< plans that are tried at most
};

}  // namespace hot::verify
