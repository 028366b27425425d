// nvfp4: e2m1 elements (0, ½, 1, 1½, 2, 3, 4, 6) in blocks of 16 along the contraction, each with
// an fp8e4m3 scale, and one float32 scale for the tensor that takes the largest block scale to 448.
#include "kernels/formats/minifloat.hpp"

namespace hot::kernels {
namespace {

constexpr float kSmallestScale = 0x1p-9F;

float shared_scale(float largest) {
  const float scale = largest / (kE2M1.largest * kE4M3.largest);
  return scale == 0.0F ? 1.0F : scale;
}

/// A block whose scale would round to zero takes the smallest there is.
float block_scale(float largest, float shared) {
  const float wanted = largest / kE2M1.largest / shared;
  if (!(wanted <= 2 * kE4M3.largest)) return wanted * shared;  // not finite: carried on
  const float scale = nearest(around_in<kE4M3>(wanted), wanted);
  return (scale > 0 ? scale : kSmallestScale) * shared;
}

}  // namespace

FloatFormat nvfp4() {
  return {Format::nvfp4, shared_scale, block_scale, around_in<kE2M1>};
}

}  // namespace hot::kernels
