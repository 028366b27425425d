#pragma once

#include <cstdint>

#include "kernels/formats/minifloat.hpp"

namespace hot::kernels {

constexpr int kMaxOrder = 1024;
constexpr int kPassThreads = 256;

/// What one pass over an operand needs to know. The operand is seen as `free` vectors of `terms`
/// contracted elements, whatever its rows and columns are.
struct PassParams {
  const void* data = nullptr;
  std::int64_t terms = 0, free = 0;               ///< of the operand as it is stored
  std::int64_t term_stride = 0, free_stride = 0;  ///< in elements
  bool vectors = false;  ///< 16-byte loads along the dimension with stride 1 are aligned

  int order = 1;  ///< n
  int kept = 1;   ///< rows of H_n kept of each block
  bool full = true;
  std::int64_t kept_terms = 0;         ///< contracted length of the transformed matrix
  std::int16_t position[kMaxOrder]{};  ///< of row i among the kept rows, −1 when it is dropped

  /// Tiles: block b works on tile (b mod term_tiles, b div term_tiles), or the other way round.
  std::int64_t term_tiles = 0, free_tiles = 0;
  bool terms_first = false;

  /// Abs-max: one magnitude, or one for each free index.
  float* largest = nullptr;

  /// Quantize. Element (term, free) of the transformed matrix has the row-major index
  /// term · index_term + free · index_free, which picks its random word.
  const float* scales = nullptr;
  bool each_free = false;
  float level = 127.0F;
  Minifloat number = kE4M3;  ///< of FP8 operands
  bool stochastic = false;
  bool packed = false;  ///< two levels a byte
  std::uint64_t seed = 0;
  std::int64_t index_term = 0, index_free = 0;
  std::int8_t* out = nullptr;  ///< [out_free × pitch] bytes, contracted dimension contiguous
  std::int64_t pitch = 0;      ///< bytes, a multiple of 16; levels beyond kept_terms are 0
  std::int64_t out_free = 0;   ///< vectors; those beyond `free` are 0
};

/// One of a matrix's two scales.
struct ScaleParams {
  const float* values = nullptr;
  bool each = false;  ///< one for each row (column), not one for all
};

struct DequantizeParams {
  const std::int32_t* in = nullptr;
  std::int64_t rows = 0, cols = 0, in_pitch = 0;  ///< in_pitch in integers
  float factor = 1.0F;
  ScaleParams row, col;
  void* out = nullptr;
  std::int64_t out_pitch = 0;  ///< in elements
  bool vectors = false;        ///< 16-byte accesses are aligned
};

struct ScalesParams {
  float* values = nullptr;  ///< magnitudes become scales
  std::int64_t count = 0;
  float level = 127.0F;
};

struct UnpackParams {
  const std::uint8_t* in = nullptr;  ///< two levels a byte
  std::int8_t* out = nullptr;
  std::int64_t bytes = 0;  ///< of `in`, a multiple of 8
};

/// Where a block works.
struct Tile {
  std::int64_t term, free;
};

}  // namespace hot::kernels
