#pragma once

#include <string>
#include <vector>

#include "core/gemm_shape.hpp"
#include "core/metric.hpp"
#include "core/scheme.hpp"

namespace hot {

enum class Execution { native, simulated };

[[nodiscard]] const char* to_string(Execution execution);

/// What one scheme does to one gradient of one layer (methods.md, section 4).
struct ErrorRow {
  std::string layer;
  Path path = Path::grad_input;
  Scheme scheme;
  Execution execution = Execution::native;
  Metrics metrics;
};

/// LQS on untransformed gy at 4 bits (methods.md, section 3).
struct LqsChoice {
  std::string layer;
  double error_tensor = 0;  ///< ‖gy − Q4_tensor(gy)‖₂, over all calls and batches
  double error_row = 0;     ///< ‖gy − Q4_row(gy)‖₂
  [[nodiscard]] Granularity choice() const {
    return error_row < 0.5 * error_tensor ? Granularity::row : Granularity::tensor;
  }
};

struct ErrorTable {
  std::vector<ErrorRow> rows;
  std::vector<LqsChoice> lqs;
  std::vector<std::string> notes;

  /// The row of (layer, path, scheme), or nullptr.
  [[nodiscard]] const ErrorRow* find(const std::string& layer, Path path,
                                     const Scheme& scheme) const;
};

}  // namespace hot
