#include "backward/image_gradient.hpp"

#include "backward/folded_product.hpp"
#include "backward/integer_convolution.hpp"
#include "backward/pixel_rows.hpp"

namespace hot::backward {

at::Tensor image_gradient(const kernels::Operand& gy, const kernels::Operand& w,
                          const Window& window, const WindowRuns* runs, at::IntArrayRef x_sizes) {
  if (w.block == 0 && convolves_integers(gy, window))
    return integer_convolution(gy, w, window, x_sizes);
  return image_of_pixel_rows(
      runs == nullptr ? kernels::multiply(gy, w) : folded_product(gy, w, *runs), x_sizes);
}

}  // namespace hot::backward
