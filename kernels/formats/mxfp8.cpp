// mxfp8: fp8e4m3 elements in blocks of 32 along the contraction with an e8m0 scale, a power of two
// (OCP Microscaling Formats v1.0).
#include "kernels/formats/minifloat.hpp"

namespace hot::kernels {

FloatFormat mxfp8() {
  return {Format::mxfp8, no_shared_scale, power_of_two_scale<kE4M3>, around_in<kE4M3>};
}

}  // namespace hot::kernels
