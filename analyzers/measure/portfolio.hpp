#pragma once

#include <vector>

#include "core/scheme.hpp"

namespace hot::measure {

/// Those of `schemes` that can be computed as one integer product on `path`, in their order.
[[nodiscard]] std::vector<Scheme> legal_schemes(const std::vector<Scheme>& schemes, Path path);

}  // namespace hot::measure
