#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "kernels/backward.hpp"

namespace hot::kernels {

/// One operand in the making, from pieces of its matrix: whole ranges of rows that several threads
/// bring in any order. See prepare_all().
class Preparation {
 public:
  /// What one thread has seen of the matrix.
  using Seen = std::vector<float>;

  /// For a matrix [rows × cols]; scales are those given, or found in the first pass.
  Preparation(const Recipe& recipe, std::int64_t rows, std::int64_t cols,
              const at::Tensor& scales = {});

  /// Pieces begin at multiples of so many rows: whole blocks, whole groups of packed rows.
  [[nodiscard]] std::int64_t unit() const { return unit_; }

  /// True if the first pass is all that it takes.
  [[nodiscard]] bool one_pass() const;

  /// True if pieces may be some columns of rows, whole panels.
  [[nodiscard]] bool takes_strips() const;

  /// The first pass: largest magnitudes, and the result itself where a piece decides it.
  [[nodiscard]] Seen nothing_seen() const;
  void look(const MatrixView& piece, std::int64_t first_row, std::int64_t first_col, Seen& seen);
  void merge(const Seen& seen);

  /// The second pass, after set_scales().
  void set_scales();
  void round(const MatrixView& piece, std::int64_t first_row, std::int64_t first_col);

  [[nodiscard]] Operand result() &&;

 private:
  [[nodiscard]] std::int64_t out_row(std::int64_t row) const;
  [[nodiscard]] LevelsOut levels_from(std::int64_t row, std::int64_t col) const;

  Recipe recipe_;
  MatrixSize size_;  ///< of the transformed matrix
  std::int64_t unit_ = 1;
  std::mutex merging_;
  at::Tensor values_, scales_;
};

}  // namespace hot::kernels
