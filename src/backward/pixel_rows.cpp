#include "backward/pixel_rows.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "kernels/ops.hpp"

namespace hot::backward {
namespace {

/// Rows that a thread transposes at once.
constexpr std::int64_t kRows = 256;

/// `count` matrices [rows × cols], one after the other, each transposed.
void transpose_each(const float* in, std::int64_t count, std::int64_t rows, std::int64_t cols,
                    float* out) {
  const kernels::Ops& ops = kernels::cpu_ops();
  const std::int64_t parts = (cols + kRows - 1) / kRows;
  const std::int64_t grain = 1 + 32768 / std::max<std::int64_t>(1, rows * std::min(cols, kRows));
  at::parallel_for(0, count * parts, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t matrix = i / parts * rows * cols;
      const std::int64_t first = i % parts * kRows;
      const kernels::MatrixView view{in + matrix + first, std::min(kRows, cols - first), rows, 1,
                                     cols};
      ops.transform(view, kernels::Along::rows, Transform{}, out + matrix + first * rows);
    }
  });
}

}  // namespace

at::Tensor pixel_rows(const at::Tensor& image) {
  const std::int64_t channels = image.size(1);
  const at::Tensor last = image.movedim(1, -1);
  if (last.is_contiguous() || image.scalar_type() != at::kFloat)
    return last.reshape({-1, channels});
  const at::Tensor source = image.resolve_neg().contiguous();
  const std::int64_t pixels =
      channels == 0 || image.size(0) == 0 ? 0 : source.numel() / (channels * image.size(0));
  at::Tensor rows = at::empty({image.size(0) * pixels, channels},
                              image.options().memory_format(at::MemoryFormat::Contiguous));
  transpose_each(source.const_data_ptr<float>(), image.size(0), channels, pixels,
                 rows.mutable_data_ptr<float>());
  return rows;
}

at::Tensor image_of_pixel_rows(const at::Tensor& rows, at::IntArrayRef sizes) {
  if (rows.scalar_type() != at::kFloat) {
    std::vector<std::int64_t> last(sizes.begin(), sizes.end());
    std::rotate(last.begin() + 1, last.begin() + 2, last.end());
    return rows.reshape(last).movedim(-1, 1).contiguous();
  }
  const at::Tensor source = rows.contiguous();
  at::Tensor image = at::empty(sizes, rows.options());
  if (image.numel() == 0) return image;
  const std::int64_t pixels = image.numel() / (sizes[0] * sizes[1]);
  transpose_each(source.const_data_ptr<float>(), sizes[0], pixels, sizes[1],
                 image.mutable_data_ptr<float>());
  return image;
}

}  // namespace hot::backward
