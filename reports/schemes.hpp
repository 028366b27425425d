#pragma once

#include <string>
#include <vector>

#include "core/scheme.hpp"

namespace hot::reports {

/// What can be chosen: the grammar with a line for each part, the parts that aren't available yet,
/// and the paths on which each of `portfolio` is legal.
[[nodiscard]] std::string write_schemes(const std::vector<Scheme>& portfolio,
                                        const std::vector<Scheme>& whole);

}  // namespace hot::reports
