// fp8e4m3: sign, 4 bits of exponent (bias 7), 3 of mantissa; ±2⁻⁹ … ±448, no infinity (OCP OFP8,
// torch's float8_e4m3fn). Scaled so that the group's largest magnitude becomes 448.
#include "kernels/formats/minifloat.hpp"

namespace hot::kernels {

FloatFormat fp8e4m3() {
  return {Format::fp8e4m3, scale_to_largest<kE4M3>, nullptr, around_in<kE4M3>};
}

}  // namespace hot::kernels
