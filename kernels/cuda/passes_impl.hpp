#pragma once

// The host side of the passes, compiled once by nvcc (passes.cu) and once for the simulator
// (kernels/sim/passes.cpp).

#include <algorithm>

#include "kernels/common/basis.hpp"
#include "kernels/cuda/abs_max.hpp"
#include "kernels/cuda/element_passes.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/passes.hpp"
#include "kernels/cuda/transform_quantize.hpp"
#include "kernels/cuda/wide.hpp"
#include "kernels/fp8_formats.hpp"

namespace hot::kernels::HOT_SIDE {

inline std::int64_t blocks_for(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

inline bool aligned16(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % sizeof(Bytes16) == 0;
}

inline void set_transform(PassParams& p, const Transform& transform) {
  if (transform.kind == Transform::Kind::none) return;
  if (transform.order > kMaxOrder)
    throw std::logic_error("blocks of more than 1024 terms don't fit a thread block");
  const std::vector<int> rows = kept_rows(transform);
  p.order = transform.order;
  p.kept = static_cast<int>(rows.size());
  p.full = transform.kind == Transform::Kind::hadamard;
  std::fill(p.position, p.position + kMaxOrder, std::int16_t{-1});
  for (std::size_t i = 0; i < rows.size(); ++i) p.position[rows[i]] = static_cast<std::int16_t>(i);
}

inline PassParams pass_params(const DeviceMatrix& in, Along along, const Transform& transform,
                              ScaleGroup group) {
  PassParams p;
  set_transform(p, transform);
  const bool by_rows = along == Along::rows;
  p.data = in.data;
  p.terms = by_rows ? in.rows : in.cols;
  p.free = by_rows ? in.cols : in.rows;
  p.term_stride = by_rows ? in.row_stride : in.col_stride;
  p.free_stride = by_rows ? in.col_stride : in.row_stride;
  p.kept_terms = transformed_length(p.terms, transform);
  p.index_term = by_rows ? p.free : 1;
  p.index_free = by_rows ? 1 : p.kept_terms;
  p.each_free = group == ScaleGroup::each_free;
  return p;
}

inline std::int64_t tiles(PassParams& p, int tile_terms, int tile_frees) {
  const std::int64_t tile_bytes = std::max(1, tile_terms / p.order * p.kept / (p.packed ? 2 : 1));
  p.term_tiles = std::max(blocks_for(p.terms, tile_terms), blocks_for(p.pitch, tile_bytes));
  p.free_tiles = blocks_for(std::max(p.free, p.out_free), tile_frees);
  return p.term_tiles * p.free_tiles;
}

/// Starts the kernel that fits an operand's layout: `Across` where the free dimension is
/// contiguous, `Along` where the contracted one is, `General` for the rest and for blocks beyond a
/// warp.
template <class T, class Across, class Along_, class General>
void start_pass(void* stream, PassParams& p) {
  constexpr int vector = kVector<T>;
  const bool across = p.free_stride == 1;
  if (p.order > kWarp || (!across && p.term_stride != 1)) {
    const std::int64_t blocks = tiles(p, Wide<T>::tile_terms(p.order), Wide<T>::kFrees);
    launch<General>(stream, blocks, p);
    return;
  }
  p.terms_first = !across;
  p.vectors = aligned16(p.data) && (across ? p.term_stride : p.free_stride) % vector == 0;
  if (across)
    launch<Across>(
        stream, tiles(p, Shape<T, true>::tile_terms(p.order), Shape<T, true>::tile_frees(p.order)),
        p);
  else
    launch<Along_>(
        stream,
        tiles(p, Shape<T, false>::tile_terms(p.order), Shape<T, false>::tile_frees(p.order)), p);
}

/// Calls work with a value of the element's type.
template <class Work>
void with_element(Element element, const Work& work) {
  switch (element) {
    case Element::f32:
      return work(float{});
    case Element::f16:
      return work(Half{});
    case Element::bf16:
      return work(Bfloat16{});
  }
}

inline void transform_abs_max(void* stream, const DeviceMatrix& in, Along along,
                              const Transform& transform, ScaleGroup group, float* largest) {
  PassParams p = pass_params(in, along, transform, group);
  p.largest = largest;
  with_element(in.element, [&]<class T>(T) {
    start_pass<T, TransformAbsMax<T, true>, TransformAbsMax<T, false>, WideAbsMax<T>>(stream, p);
  });
}

/// The largest number of a format: what the largest magnitude of a group becomes.
inline float largest_number(Format format) {
  return is_fp8(format) ? minifloat_of(format).largest : static_cast<float>(max_level(format));
}

inline void make_scales(void* stream, float* largest, std::int64_t count, Format format) {
  const ScalesParams p{largest, count, largest_number(format)};
  launch<MakeScales>(stream, blocks_for(count, kPassThreads), p);
}

inline void transform_quantize(void* stream, const DeviceMatrix& in, Along along,
                               const Transform& transform, Format format, ScaleGroup group,
                               const float* scales, const RoundingRule& rounding, bool packed,
                               std::int8_t* out) {
  if (packed && format != Format::int4) throw std::logic_error("only int4 levels are packed");
  PassParams p = pass_params(in, along, transform, group);
  const LevelLayout layout = level_layout(in.rows, in.cols, along, transform, packed);
  p.scales = scales;
  p.level = largest_number(format);
  if (is_fp8(format)) p.number = minifloat_of(format);
  p.stochastic = rounding.mode == Rounding::stochastic;
  p.seed = rounding.seed;
  p.packed = packed;
  p.out = out;
  p.pitch = layout.pitch;
  p.out_free = layout.padded_free;
  with_element(in.element, [&]<class T>(T) {
    const auto start = [&]<class Code>(Code) {
      start_pass<T, TransformQuantize<T, true, Code>, TransformQuantize<T, false, Code>,
                 WideQuantize<T, Code>>(stream, p);
    };
    is_fp8(format) ? start(Fp8Code{}) : start(IntegerCode{});
  });
}

inline void dequantize(void* stream, const std::int32_t* in, std::int64_t in_pitch,
                       std::int64_t rows, std::int64_t cols, float factor, const float* row_scales,
                       std::int64_t row_count, const float* col_scales, std::int64_t col_count,
                       Element element, void* out, std::int64_t out_pitch) {
  with_element(element, [&]<class T>(T) {
    DequantizeParams p;
    p.in = in;
    p.rows = rows;
    p.cols = cols;
    p.in_pitch = in_pitch;
    p.factor = factor;
    p.row = {row_scales, row_count != 1};
    p.col = {col_scales, col_count != 1};
    p.out = out;
    p.out_pitch = out_pitch;
    p.vectors = aligned16(in) && aligned16(out) && in_pitch % 4 == 0 && out_pitch % kVector<T> == 0;
    launch<Dequantize<T>>(stream, blocks_for(rows * blocks_for(cols, kVector<T>), kPassThreads), p);
  });
}

inline void unpack(void* stream, const std::int8_t* packed, std::int64_t bytes, std::int8_t* out) {
  if (bytes % 8 != 0) throw std::logic_error("packed levels are unpacked 8 bytes at a time");
  const UnpackParams p{reinterpret_cast<const std::uint8_t*>(packed), out, bytes};
  launch<Unpack>(stream, blocks_for(bytes / 8, kPassThreads), p);
}

constexpr DevicePasses passes_called(const char* name) {
  return {name, transform_abs_max, make_scales, transform_quantize, dequantize, unpack};
}

}  // namespace hot::kernels::HOT_SIDE
