#pragma once

#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/verification.hpp"

namespace hot::verify {

/// Speed, relative to exact, below which a single pair of steps is trusted: above it may be noise.
inline constexpr double kClearlySlower = 0.95;

/// Leaves exact in `plan` what was measured clearly slower without saving bytes, with the scheme
/// that was tried as runner-up. Names of the changed layers.
std::vector<std::string> drop_slower(Plan& plan, const std::vector<LayerVerification>& layers);

}  // namespace hot::verify
