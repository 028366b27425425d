// mxfp4: e2m1 elements (0, ½, 1, 1½, 2, 3, 4, 6) in blocks of 32 along the contraction with an e8m0
// scale, a power of two (OCP Microscaling Formats v1.0).
#include "kernels/formats/minifloat.hpp"

namespace hot::kernels {

FloatFormat mxfp4() {
  return {Format::mxfp4, no_shared_scale, power_of_two_scale<kE2M1>, around_in<kE2M1>};
}

}  // namespace hot::kernels
