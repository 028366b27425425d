#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/backward.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/common/quantize.hpp"
#include "kernels/device_operand.hpp"
#include "kernels/fp8_formats.hpp"
#include "kernels/integer_gemm.hpp"
#include "kernels/levels.hpp"
#include "kernels/otherwise.hpp"
#include "kernels/preparation.hpp"

namespace hot::kernels {
namespace {

/// Elements that are worth a thread of their own.
constexpr std::int64_t kGrain = 32768;
/// Floats that a thread works on at once: 256 KiB, to stay in a second-level cache.
constexpr std::int64_t kPieceFloats = 65536;
/// The same of a strip: 32 KiB, to stay in a first-level one.
constexpr std::int64_t kStripFloats = 8192;

MatrixView view_of(const at::Tensor& a) {
  if (!a.defined() || a.dim() != 2 || a.scalar_type() != at::kFloat || !a.device().is_cpu() ||
      a.layout() != at::kStrided || a.is_neg())
    throw std::logic_error("an operand is a dense 2-D float32 CPU tensor");
  return {a.const_data_ptr<float>(), a.size(0), a.size(1), a.stride(0), a.stride(1)};
}

/// What works on the device of `a`; null for the CPU's loops.
const DeviceBackend* backend_for(const at::Tensor& a) {
  return a.defined() ? backend_of(a.device()) : nullptr;
}

/// Rows of a matrix that is in memory.
struct Stored {
  explicit Stored(const MatrixView& matrix) : view(matrix), rows(matrix.rows), cols(matrix.cols) {}
  [[nodiscard]] MatrixView piece(std::int64_t begin, std::int64_t end, std::int64_t /*first*/,
                                 std::int64_t /*count*/, float* /*room*/) const {
    MatrixView part = view;
    part.data += begin * view.row_stride;
    part.rows = end - begin;
    return part;
  }
  static constexpr bool kMakes = false;
  static constexpr std::int64_t strip = 0;
  MatrixView view;
  std::int64_t rows, cols;
};

/// A matrix that is made when it is needed.
struct Made {
  explicit Made(const RowSource& from)
      : source(from),
        rows(from.rows),
        cols(from.cols),
        strip(from.strip > 0 ? std::lcm(from.strip, kPanel) : 0) {}
  [[nodiscard]] MatrixView piece(std::int64_t begin, std::int64_t end, std::int64_t first,
                                 std::int64_t count, float* room) const {
    source.fill(begin, end, first, count, room);
    return {room, end - begin, count, count, 1};
  }
  static constexpr bool kMakes = true;
  const RowSource& source;
  std::int64_t rows, cols, strip;
};

/// How a matrix is cut: pieces begin at multiples of `unit` rows; `in_cache`: small ones although
/// nothing asks for it; `strips`: by columns too, where the source makes them.
struct Cut {
  std::int64_t unit = 1;
  bool in_cache = false;
  bool strips = false;
};

/// Calls in_thread() in each of several threads, and the function that it returns for one piece
/// after the other: (piece, its first row, its first column). Pieces hold about kPieceFloats, or
/// all of a thread's rows where that costs nothing.
template <class Source, class InThread>
void over_pieces(const Source& in, const Cut& cut, const InThread& in_thread) {
  const bool strips = cut.strips && in.strip > 0 && in.strip < in.cols;
  const std::int64_t width = strips ? in.strip : in.cols;
  const std::int64_t floats = std::max<std::int64_t>(cut.unit * width, 1);
  const std::int64_t units = (in.rows + cut.unit - 1) / cut.unit;
  const std::int64_t grain = 1 + kGrain / std::max<std::int64_t>(cut.unit * in.cols, 1);
  at::parallel_for(0, units, grain, [&](std::int64_t begin, std::int64_t end) {
    const bool small = Source::kMakes || cut.in_cache;
    const std::int64_t most = strips ? kStripFloats : kPieceFloats;
    const std::int64_t step =
        small ? std::clamp<std::int64_t>(most / floats, 1, end - begin) : end - begin;
    const auto room = std::make_unique_for_overwrite<float[]>(
        static_cast<std::size_t>(Source::kMakes ? step * floats : 0));
    auto work = in_thread();
    for (std::int64_t first = begin; first < end; first += step) {
      const std::int64_t row = first * cut.unit;
      const std::int64_t rows_end = std::min(in.rows, std::min(first + step, end) * cut.unit);
      for (std::int64_t col = 0; col == 0 || col < in.cols; col += std::max<std::int64_t>(width, 1))
        work(in.piece(row, rows_end, col, std::min(width, in.cols - col), room.get()), row, col);
    }
  });
}

/// Largest magnitudes by a thread, given to their preparations when it is done.
class Looking {
 public:
  explicit Looking(std::list<Preparation>& preparations) : preparations_(preparations) {
    for (const Preparation& p : preparations) seen_.push_back(p.nothing_seen());
  }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;
  ~Looking() {
    auto seen = seen_.begin();
    for (Preparation& p : preparations_) p.merge(*seen++);
  }
  void operator()(const MatrixView& piece, std::int64_t first_row, std::int64_t first_col) {
    auto seen = seen_.begin();
    for (Preparation& p : preparations_) p.look(piece, first_row, first_col, *seen++);
  }

 private:
  std::list<Preparation>& preparations_;
  std::vector<Preparation::Seen> seen_;
};

/// How all of them take a matrix.
Cut common_cut(const std::list<Preparation>& preparations) {
  Cut cut{1, preparations.size() > 1, true};
  for (const Preparation& p : preparations) {
    cut.unit = std::max(cut.unit, p.unit());  // units are powers of two
    cut.strips = cut.strips && p.takes_strips();
  }
  return cut;
}

template <class Source>
void look(const Source& in, const Cut& cut, std::list<Preparation>& preparations) {
  const bool in_cache = cut.in_cache || preparations.front().one_pass();
  over_pieces(in, {cut.unit, in_cache, cut.strips}, [&] { return Looking(preparations); });
  for (Preparation& p : preparations) p.set_scales();
}

template <class Source>
void round(const Source& in, const Cut& cut, const std::vector<Preparation*>& preparations) {
  over_pieces(in, {cut.unit, preparations.size() > 1, cut.strips}, [&] {
    return [&](const MatrixView& piece, std::int64_t first_row, std::int64_t first_col) {
      for (Preparation* p : preparations) p->round(piece, first_row, first_col);
    };
  });
}

template <class Source>
std::vector<Operand> prepare_from(const Source& in, std::span<const Recipe> recipes) {
  const at::AutoDispatchBelowAutograd no_autograd;
  std::list<Preparation> preparations;
  for (const Recipe& recipe : recipes) preparations.emplace_back(recipe, in.rows, in.cols);
  if (preparations.empty()) return {};
  const Cut cut = common_cut(preparations);
  look(in, cut, preparations);
  std::vector<Preparation*> unfinished;
  for (Preparation& p : preparations)
    if (!p.one_pass()) unfinished.push_back(&p);
  if (!unfinished.empty()) round(in, cut, unfinished);
  std::vector<Operand> operands;
  for (Preparation& p : preparations) operands.push_back(std::move(p).result());
  return operands;
}

constexpr Transform kNone;

/// Recipes that the passes know are made together, others one by one.
template <class Source, class Matrix>
std::vector<Operand> prepare_any(const Source& in, const Matrix& a,
                                 std::span<const Recipe> recipes) {
  if (std::all_of(recipes.begin(), recipes.end(), is_plain)) return prepare_from(in, recipes);
  std::vector<Operand> operands;
  for (const Recipe& recipe : recipes) {
    operands.push_back(is_plain(recipe) ? prepare_from(in, std::span(&recipe, 1)).front()
                                        : prepare_otherwise(a, recipe));
  }
  return operands;
}

}  // namespace

std::vector<Operand> prepare_all(const at::Tensor& a, std::span<const Recipe> recipes) {
  if (const auto* device = backend_for(a)) return device_prepare_all(*device, a, recipes);
  return prepare_any(Stored(view_of(a)), a, recipes);
}

std::vector<Operand> prepare_all(const RowSource& a, std::span<const Recipe> recipes) {
  return prepare_any(Made(a), a, recipes);
}

at::Tensor transformed(const at::Tensor& a, Along along, const Transform& transform) {
  if (backend_for(a) != nullptr) return device_transformed(a, along, transform);
  const MatrixView in = view_of(a);
  if (transform.kind == Transform::Kind::none) return a.contiguous();
  const Recipe recipe{along, transform};
  return prepare_any(Stored(in), a, std::span(&recipe, 1)).front().values;
}

at::Tensor scales_of(const at::Tensor& transformed, Format format, Granularity granularity) {
  if (format == Format::none) throw std::logic_error("no scales without a format");
  if (const auto* device = backend_for(transformed))
    return device_scales_of(*device, transformed, format, granularity);
  const at::AutoDispatchBelowAutograd no_autograd;
  const Stored in(view_of(transformed));
  at::Tensor scales = at::zeros({scale_count(granularity, in.rows, in.cols)}, at::kFloat);
  const std::span all(scales.mutable_data_ptr<float>(), static_cast<std::size_t>(scales.numel()));
  std::mutex merging;
  over_pieces(in, {}, [&] {
    return [&](const MatrixView& piece, std::int64_t row, std::int64_t /*col*/) {
      const auto first = static_cast<std::size_t>(granularity == Granularity::row ? row : 0);
      std::vector<float> own(granularity == Granularity::row ? static_cast<std::size_t>(piece.rows)
                                                             : all.size());
      cpu_ops().transform_abs_max(piece, Along::rows, kNone, granularity, own.data());
      const std::scoped_lock lock(merging);
      for (std::size_t i = 0; i < own.size(); ++i)
        all[first + i] = larger_magnitude(all[first + i], own[i]);
    };
  });
  for (float& scale : all) scale = scale_for(scale, static_cast<float>(max_level(format)));
  return scales;
}

Operand quantized(const at::Tensor& transformed, Along along, const Transform& transform,
                  Format format, Granularity granularity, const at::Tensor& scales,
                  Rounding rounding, std::uint64_t seed) {
  if (format == Format::none) throw std::logic_error("nothing to quantize without a format");
  const at::AutoDispatchBelowAutograd no_autograd;
  if (const auto* device = backend_for(transformed)) {
    Operand operand =
        device_quantized(*device, transformed,
                         {along, kNone, format, granularity, rounding, seed, Order::rows}, scales);
    operand.transform = transform;
    return operand;
  }
  const Stored in(view_of(transformed));
  Preparation levels({along, kNone, format, granularity, rounding, seed}, in.rows, in.cols, scales);
  round(in, {levels.unit()}, {&levels});
  Operand operand = std::move(levels).result();
  operand.transform = flat_transform(transform);
  return operand;
}

Operand prepare(const at::Tensor& a, Along along, const Transform& transform, Format format,
                Granularity granularity, Rounding rounding, std::uint64_t seed) {
  if (format == Format::none)
    return {transformed(a, along, transform), at::Tensor(), along,
            flat_transform(transform),        format,       granularity};
  const Recipe recipe{along, transform, format, granularity, rounding, seed};
  return std::move(prepare_all(a, std::span(&recipe, 1)).front());
}

MatrixSize size_of(const Operand& operand) {
  if (operand.packed) return *operand.packed;
  if (operand.layout) {
    const LevelLayout& lies = *operand.layout;
    return operand.along == Along::cols ? MatrixSize{lies.free, lies.terms}
                                        : MatrixSize{lies.terms, lies.free};
  }
  return {operand.values.size(0), operand.values.size(1)};
}

at::Tensor matrix_of(const Operand& operand) {
  if (operand.layout) return device_matrix(*backend_of(operand.values.device()), operand);
  if (!operand.packed) return operand.values;
  return unpacked({operand.values, operand.packed->rows, operand.packed->cols});
}

at::Tensor dequantized(const Operand& operand) {
  const at::AutoDispatchBelowAutograd no_autograd;
  if (operand.format == Format::none) return operand.values;
  at::Tensor matrix = matrix_of(operand);
  if (is_fp8(operand.format))
    matrix = matrix.view(operand.format == Format::fp8e4m3 ? at::kFloat8_e4m3fn : at::kFloat8_e5m2);
  const at::Tensor values = matrix.to(at::kFloat);
  if (operand.granularity == Granularity::block)
    return values.mul_(operand.along == Along::rows ? operand.scales.unsqueeze(1) : operand.scales);
  return operand.granularity == Granularity::row ? values.mul_(operand.scales.unsqueeze(1))
                                                 : values.mul_(operand.scales);
}

}  // namespace hot::kernels
