#pragma once

#include <array>

namespace hot::bench {

/// What a layer's two gradients are computed with, in the grammar of schemes.
struct Preset {
  const char* name;
  const char* grad_input;
  const char* grad_weight;
};

/// Those of `--policy hot` (with a scale per row) and `hlq`, and plain INT8, the cheapest scheme
/// with small errors.
inline constexpr std::array<Preset, 3> kPresets = {{
    {"hot", "had16+int4/row/stochastic", "low16r8.sequency+int8/tensor/nearest"},
    {"hlq", "had16+int4/tensor/stochastic", "low16r8.sequency+int8/tensor/nearest"},
    {"int8", "none+int8/tensor/nearest", "none+int8/tensor/nearest"},
}};

}  // namespace hot::bench
