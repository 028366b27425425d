#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/profile.hpp"

namespace hot::profile {

struct Options {
  std::string optimizer = "sgd";
  int repeats = 20;           ///< rounds of timed steps, at most
  bool more_watching = true;  ///< more rounds of the exact step, until what watching adds is known
  double seconds = 60;        ///< once the rounds took this long, two are enough
  std::vector<std::int64_t> batch_sizes;  ///< what-if: each is measured
  std::int64_t budget_bytes = 0;          ///< what-if: largest batch within; 0: not asked
  std::optional<TargetRates> target;      ///< what-if: a device that isn't here
};

}  // namespace hot::profile
