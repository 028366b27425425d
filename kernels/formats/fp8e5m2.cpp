// fp8e5m2: sign, 5 bits of exponent (bias 15), 2 of mantissa; ±2⁻¹⁶ … ±57344 (OCP OFP8, torch's
// float8_e5m2). Scaled so that the group's largest magnitude becomes 57344.
#include "kernels/formats/minifloat.hpp"

namespace hot::kernels {

FloatFormat fp8e5m2() {
  return {Format::fp8e5m2, scale_to_largest<kE5M2>, nullptr, around_in<kE5M2>};
}

}  // namespace hot::kernels
