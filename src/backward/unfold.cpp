#include "backward/unfold.hpp"

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include <algorithm>

namespace hot::backward {
namespace {

std::int64_t span(const Window& w, std::size_t d, std::int64_t positions) {
  return (positions - 1) * w.stride[d] + w.dilation[d] * (w.kernel[d] - 1) + 1;
}

/// Sizes of the zero-padded image that holds every place the kernel reads.
std::vector<std::int64_t> padded_sizes(const Window& w, at::IntArrayRef image,
                                       at::IntArrayRef positions) {
  std::vector<std::int64_t> sizes(image.begin(), image.begin() + 2);
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    sizes.push_back(std::max(image[d + 2] + 2 * w.padding[d], span(w, d, positions[d])));
  }
  return sizes;
}

/// The part of the padded image that the image itself fills.
at::Tensor inner(const at::Tensor& padded, const Window& w, at::IntArrayRef image) {
  auto view = padded;
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    view = view.narrow(static_cast<std::int64_t>(d) + 2, w.padding[d], image[d + 2]);
  }
  return view;
}

/// A view of the padded image as [N, *positions, C, *kernel].
at::Tensor windows(const at::Tensor& padded, const Window& w, at::IntArrayRef positions) {
  const auto strides = padded.strides();
  std::vector<std::int64_t> sizes{padded.size(0)};
  std::vector<std::int64_t> steps{strides[0]};
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    sizes.push_back(positions[d]);
    steps.push_back(strides[d + 2] * w.stride[d]);
  }
  sizes.push_back(padded.size(1));
  steps.push_back(strides[1]);
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    sizes.push_back(w.kernel[d]);
    steps.push_back(strides[d + 2] * w.dilation[d]);
  }
  return padded.as_strided(sizes, steps, padded.storage_offset());
}

bool needs_padding(const Window& w, at::IntArrayRef image, at::IntArrayRef positions) {
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    if (w.padding[d] != 0 || span(w, d, positions[d]) > image[d + 2]) return true;
  }
  return false;
}

}  // namespace

at::Tensor unfold(const at::Tensor& image, const Window& window, at::IntArrayRef positions) {
  at::Tensor padded = image;
  if (needs_padding(window, image.sizes(), positions)) {
    padded = at::zeros(padded_sizes(window, image.sizes(), positions), image.options());
    inner(padded, window, image.sizes()).copy_(image);
  }
  return windows(padded, window, positions)
      .reshape({image.size(0) * c10::multiply_integers(positions),
                image.size(1) * c10::multiply_integers(window.kernel)});
}

at::Tensor fold(const at::Tensor& columns, const Window& window, at::IntArrayRef image_sizes,
                at::IntArrayRef positions) {
  // Padding added where the kernel reads beyond the image is dropped again by inner().
  auto padded = at::zeros(padded_sizes(window, image_sizes, positions), columns.options());
  const auto target = windows(padded, window, positions);
  const auto source = columns.reshape(target.sizes());
  const auto spatial = static_cast<std::int64_t>(window.kernel.size());
  const std::int64_t kernel_places = c10::multiply_integers(window.kernel);
  for (std::int64_t place = 0; place < kernel_places; ++place) {
    at::Tensor to = target;
    at::Tensor from = source;
    std::int64_t rest = place;
    for (std::int64_t d = spatial - 1; d >= 0; --d) {
      const std::int64_t index = rest % window.kernel[static_cast<std::size_t>(d)];
      rest /= window.kernel[static_cast<std::size_t>(d)];
      const std::int64_t dim = spatial + 2 + d;
      to = to.select(dim, index);
      from = from.select(dim, index);
    }
    to.add_(from);  // one place of the kernel touches each element of the image once at most
  }
  return inner(padded, window, image_sizes).contiguous();
}

}  // namespace hot::backward
