#include "kernels/patches.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/common/hadamard.hpp"

namespace hot::kernels {
namespace {

/// The rank lowest functions over a patch, [rank × n·n], orthonormal.
at::Tensor functions(int side, int rank) {
  std::vector<std::pair<int, int>> places;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) places.emplace_back(i, j);
  std::ranges::stable_sort(places, {}, [](const auto& p) { return p.first + p.second; });
  at::Tensor table = at::empty({rank, side * side}, at::kFloat);
  float* out = table.mutable_data_ptr<float>();
  for (int f = 0; f < rank; ++f) {
    const auto [i, j] = places[static_cast<std::size_t>(f)];
    const int down = row_of_sequency(i, side);
    const int across = row_of_sequency(j, side);
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        *out++ = static_cast<float>(hadamard_sign(down, y) * hadamard_sign(across, x)) /
                 static_cast<float>(side);
  }
  return table;
}

std::int64_t patches_along(int length, int side) {
  return (length + side - 1) / side;
}

/// The sizes of one matrix of rows.
struct Images {
  Images(const at::Tensor& rows, const Transform& transform)
      : grid(transform.grid),
        side(transform.order),
        down(patches_along(grid.height, side)),
        across(patches_along(grid.width, side)),
        channels(rows.size(1)) {
    const std::int64_t of_sample = grid.prefix + std::int64_t{grid.height} * grid.width;
    if (grid.height == 0 || rows.size(0) % of_sample != 0)
      throw std::logic_error("these rows are no images of the scheme's grid");
    samples = rows.size(0) / of_sample;
  }

  /// The images' rows as [samples · patches × n·n × channels].
  [[nodiscard]] at::Tensor patches(const at::Tensor& by_sample) const {
    at::Tensor image = by_sample.narrow(1, grid.prefix, std::int64_t{grid.height} * grid.width)
                           .reshape({samples, grid.height, grid.width, channels});
    image = at::constant_pad_nd(
        image, {0, 0, 0, across * side - grid.width, 0, down * side - grid.height});
    return image.reshape({samples, down, side, across, side, channels})
        .permute({0, 1, 3, 2, 4, 5})
        .reshape({samples * down * across, std::int64_t{side} * side, channels});
  }
  /// The way back: [samples × height·width × channels].
  [[nodiscard]] at::Tensor image(const at::Tensor& patches) const {
    return patches.reshape({samples, down, across, side, side, channels})
        .permute({0, 1, 3, 2, 4, 5})
        .reshape({samples, down * side, across * side, channels})
        .narrow(1, 0, grid.height)
        .narrow(2, 0, grid.width)
        .reshape({samples, std::int64_t{grid.height} * grid.width, channels});
  }

  Grid grid;
  int side;
  std::int64_t down, across, channels;
  std::int64_t samples = 0;
};

/// `body` behind the rows of no place.
at::Tensor behind_prefix(const Images& images, const at::Tensor& by_sample,
                         const at::Tensor& body) {
  const at::Tensor rows = images.grid.prefix > 0
                              ? at::cat({by_sample.narrow(1, 0, images.grid.prefix), body}, 1)
                              : body;
  return rows.reshape({-1, images.channels}).contiguous();
}

}  // namespace

at::Tensor projected(const at::Tensor& rows, const Transform& transform) {
  const Images images(rows, transform);
  const at::Tensor by_sample = rows.reshape({images.samples, -1, images.channels});
  const at::Tensor kept =
      at::matmul(functions(images.side, transform.rank), images.patches(by_sample));
  return behind_prefix(images, by_sample, kept.reshape({images.samples, -1, images.channels}));
}

at::Tensor low_passed(const at::Tensor& rows, const Transform& transform) {
  const Images images(rows, transform);
  const at::Tensor by_sample = rows.reshape({images.samples, -1, images.channels});
  const at::Tensor basis = functions(images.side, transform.rank);
  const at::Tensor kept = at::matmul(basis, images.patches(by_sample));
  return behind_prefix(images, by_sample, images.image(at::matmul(basis.t(), kept)));
}

}  // namespace hot::kernels
