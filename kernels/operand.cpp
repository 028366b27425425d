#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "kernels/backward.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/common/quantize.hpp"

namespace hot::kernels {
namespace {

/// Elements that are worth a thread of their own.
constexpr std::int64_t kGrain = 32768;

MatrixView view_of(const at::Tensor& a) {
  if (!a.defined() || a.dim() != 2 || a.scalar_type() != at::kFloat || !a.device().is_cpu() ||
      a.layout() != at::kStrided || a.is_neg())
    throw std::logic_error("an operand is a dense 2-D float32 CPU tensor");
  return {a.const_data_ptr<float>(), a.size(0), a.size(1), a.stride(0), a.stride(1)};
}

/// Floats of the rows that a thread asks of a RowSource at once: 256 KiB, to stay in a
/// second-level cache.
constexpr std::int64_t kPieceFloats = 65536;

/// A part of a matrix that one thread works on, and where its first row ends up in the transformed
/// matrix.
struct Part {
  MatrixView in;
  std::int64_t out_row = 0;
  std::int64_t out_rows = 0;
};

/// Work in units of rows: whole blocks where the rows are transformed.
struct Units {
  Units(std::int64_t rows, std::int64_t cols, Along along, const Transform& transform) {
    const bool blocks = along == Along::rows && transform.kind != Transform::Kind::none;
    size = blocks ? transform.order : 1;
    kept = blocks ? transformed_length(size, transform) : 1;
    count = (rows + size - 1) / size;
    grain = 1 + kGrain / (size * std::max<std::int64_t>(cols, 1));
  }
  std::int64_t size, kept, count, grain;
};

/// Calls work(part) from several threads for ranges of whole rows (whole blocks of rows, if those
/// are transformed) that together are the matrix. Where it is cut changes no result.
template <class Work>
void over_parts(const MatrixView& in, Along along, const Transform& transform, const Work& work) {
  const Units unit(in.rows, in.cols, along, transform);
  at::parallel_for(0, unit.count, unit.grain, [&](std::int64_t begin, std::int64_t end) {
    MatrixView part = in;
    part.data += begin * unit.size * in.row_stride;
    part.rows = std::min(in.rows, end * unit.size) - begin * unit.size;
    work(Part{part, begin * unit.kept, (end - begin) * unit.kept});
  });
}

template <class Work>
void over_parts(const RowSource& in, Along along, const Transform& transform, const Work& work) {
  const Units unit(in.rows, in.cols, along, transform);
  const std::int64_t step =
      std::max<std::int64_t>(1, kPieceFloats / (unit.size * std::max<std::int64_t>(in.cols, 1)));
  at::parallel_for(0, unit.count, unit.grain, [&](std::int64_t begin, std::int64_t end) {
    const auto piece = std::make_unique_for_overwrite<float[]>(
        static_cast<std::size_t>(std::min(step, end - begin) * unit.size * in.cols));
    for (std::int64_t first = begin; first < end; first += step) {
      const std::int64_t last = std::min(first + step, end);
      const std::int64_t first_row = first * unit.size;
      const std::int64_t rows = std::min(in.rows, last * unit.size) - first_row;
      in.fill(first_row, first_row + rows, piece.get());
      work(Part{
          {piece.get(), rows, in.cols, in.cols, 1}, first * unit.kept, (last - first) * unit.kept});
    }
  });
}

struct Sizes {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

template <class Matrix>
Sizes transformed_sizes(const Matrix& in, Along along, const Transform& transform) {
  return along == Along::rows ? Sizes{transformed_length(in.rows, transform), in.cols}
                              : Sizes{in.rows, transformed_length(in.cols, transform)};
}

template <class Matrix>
at::Tensor scales_after(const Matrix& in, Along along, const Transform& transform, Format format,
                        Granularity granularity) {
  if (format == Format::none) throw std::logic_error("no scales without a format");
  const Ops& ops = cpu_ops();
  const Sizes sizes = transformed_sizes(in, along, transform);
  const std::int64_t count = scale_count(granularity, sizes.rows, sizes.cols);
  at::Tensor scales = at::zeros({count}, at::kFloat);
  float* largest = scales.mutable_data_ptr<float>();
  std::mutex merging;
  over_parts(in, along, transform, [&](const Part& part) {
    if (granularity == Granularity::row) {
      ops.transform_abs_max(part.in, along, transform, granularity, largest + part.out_row);
      return;
    }
    std::vector<float> own(static_cast<std::size_t>(count), 0.0F);
    ops.transform_abs_max(part.in, along, transform, granularity, own.data());
    const std::scoped_lock lock(merging);
    for (std::int64_t i = 0; i < count; ++i)
      largest[i] = larger_magnitude(largest[i], own[static_cast<std::size_t>(i)]);
  });
  const auto level = static_cast<float>(max_level(format));
  for (std::int64_t i = 0; i < count; ++i) largest[i] = scale_for(largest[i], level);
  return scales;
}

template <class Matrix>
at::Tensor levels_after(const Matrix& in, Along along, const Transform& transform, Format format,
                        Granularity granularity, const at::Tensor& scales, Rounding rounding,
                        std::uint64_t seed) {
  const Ops& ops = cpu_ops();
  const Sizes sizes = transformed_sizes(in, along, transform);
  if (scales.dim() != 1 || scales.scalar_type() != at::kFloat || !scales.is_contiguous() ||
      scales.numel() != scale_count(granularity, sizes.rows, sizes.cols))
    throw std::logic_error("scales are a contiguous float32 vector, one for each group");
  at::Tensor levels = at::empty({sizes.rows, sizes.cols}, at::kChar);
  std::int8_t* out = levels.mutable_data_ptr<std::int8_t>();
  const float* scale = scales.const_data_ptr<float>();
  over_parts(in, along, transform, [&](const Part& part) {
    const std::int64_t first = part.out_row * sizes.cols;
    ops.transform_quantize(part.in, along, transform, format, granularity,
                           granularity == Granularity::row ? scale + part.out_row : scale,
                           RoundingRule{rounding, seed, first}, out + first);
  });
  return levels;
}

template <class Matrix>
at::Tensor values_after(const Matrix& in, Along along, const Transform& transform) {
  const Ops& ops = cpu_ops();
  const Sizes sizes = transformed_sizes(in, along, transform);
  at::Tensor result = at::empty({sizes.rows, sizes.cols}, at::kFloat);
  float* out = result.mutable_data_ptr<float>();
  over_parts(in, along, transform, [&](const Part& part) {
    ops.transform(part.in, along, transform, out + part.out_row * sizes.cols);
  });
  return result;
}

template <class Matrix>
Operand quantized_after(const Matrix& in, Along along, const Transform& transform, Format format,
                        Granularity granularity, Rounding rounding, std::uint64_t seed) {
  const at::Tensor scales = scales_after(in, along, transform, format, granularity);
  return {levels_after(in, along, transform, format, granularity, scales, rounding, seed),
          scales,
          along,
          transform,
          format,
          granularity};
}

constexpr Transform kNone;

}  // namespace

at::Tensor transformed(const at::Tensor& a, Along along, const Transform& transform) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const MatrixView in = view_of(a);
  if (transform.kind == Transform::Kind::none) return a.contiguous();
  return values_after(in, along, transform);
}

at::Tensor scales_of(const at::Tensor& transformed, Format format, Granularity granularity) {
  return scales_after(view_of(transformed), Along::rows, kNone, format, granularity);
}

Operand quantized(const at::Tensor& transformed, Along along, const Transform& transform,
                  Format format, Granularity granularity, const at::Tensor& scales,
                  Rounding rounding, std::uint64_t seed) {
  if (format == Format::none) throw std::logic_error("nothing to quantize without a format");
  return {
      levels_after(view_of(transformed), along, kNone, format, granularity, scales, rounding, seed),
      scales,
      along,
      transform,
      format,
      granularity};
}

Operand prepare(const at::Tensor& a, Along along, const Transform& transform, Format format,
                Granularity granularity, Rounding rounding, std::uint64_t seed) {
  if (format == Format::none)
    return {transformed(a, along, transform), at::Tensor(), along, transform, format, granularity};
  return quantized_after(view_of(a), along, transform, format, granularity, rounding, seed);
}

Operand prepare(const RowSource& a, Along along, const Transform& transform, Format format,
                Granularity granularity, Rounding rounding, std::uint64_t seed) {
  if (format == Format::none)
    return {values_after(a, along, transform), at::Tensor(), along, transform, format, granularity};
  return quantized_after(a, along, transform, format, granularity, rounding, seed);
}

at::Tensor dequantized(const Operand& operand) {
  const at::AutoDispatchBelowAutograd no_autograd;
  if (operand.format == Format::none) return operand.values;
  const at::Tensor values = operand.values.to(at::kFloat);
  return operand.granularity == Granularity::row ? values.mul_(operand.scales.unsqueeze(1))
                                                 : values.mul_(operand.scales);
}

}  // namespace hot::kernels
