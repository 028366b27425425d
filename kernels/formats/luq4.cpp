// luq4: sign and 3 bits of exponent (Chmiel et al.: "Accurate neural training with 4-bit matrix
// multiplications at standard formats", logarithmic unbiased quantization). The scale is α =
// largest magnitude / 2⁶; magnitudes 0, α, 2α … 64α. Stochastic rounding is between neighbours,
// which for magnitudes under α means α with probability |v| / α.
#include "kernels/formats/minifloat.hpp"

namespace hot::kernels {
namespace {

constexpr float kLargest = 64;

float alpha(float largest) {
  const float scale = largest / kLargest;
  return scale == 0.0F ? 1.0F : scale;
}

Neighbours around(float t) {
  if (t >= kLargest) return {kLargest, kLargest, true};
  if (t < 1) return {0, t == 0 ? 0.0F : 1.0F, true};
  const float low = power_of_two(exponent_of(t));
  return {low, low == t ? low : 2 * low, true};
}

}  // namespace

FloatFormat luq4() {
  return {Format::luq4, alpha, nullptr, around};
}

}  // namespace hot::kernels
