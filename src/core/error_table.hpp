#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

/// Where an operand's large values lie: in few of its rows, in few of its columns, or in neither.
enum class OutlierSide { none, rows, columns };

[[nodiscard]] const char* to_string(OutlierSide side);

/// What explains how well one operand of a gradient takes low precision; of the layer's first call.
struct OperandFacts {
  Path path = Path::grad_input;
  std::string operand;   ///< "gy", "weight" or "x", read as the matrices of methods.md, section 1
  double row_share = 0;  ///< of the operand's energy, in the largest hundredth of its rows
  double col_share = 0;  ///< the same of its columns
  OutlierSide side = OutlierSide::none;
  double kurtosis = 0;          ///< 3 for normal values
  double kurtosis_after = 0;    ///< after had16 along the contracted dimension
  bool contracts_rows = false;  ///< the contracted dimension runs down the rows

  /// True where the large values lie in few indices of the contraction: the transform spreads them
  /// over their blocks, outlier extraction takes them out.
  [[nodiscard]] bool along_contraction() const {
    return side == (contracts_rows ? OutlierSide::rows : OutlierSide::columns);
  }
  /// True where the large values lie in few of the lines that run along the contraction: they fill
  /// whole blocks of the transform, which then has nothing to spread them over.
  [[nodiscard]] bool transform_misses() const {
    return side == (contracts_rows ? OutlierSide::columns : OutlierSide::rows);
  }
};

/// What the whole gradient and the step have to do with one layer, whatever scheme it gets.
struct LayerFacts {
  std::string layer;
  /// exact_input_ms and exact_weight_ms: its two exact products on this device. input_share and
  /// weight_share: ‖Δ‖²/‖g‖² that the error of all parameter gradients together grows by for each
  /// unit of squared relative error of the layer's grad_input and grad_weight; 0 where there is no
  /// such gradient. layer_noise: σ of the weight's gradient over minibatches. input_tau and
  /// weight_tau: how alike the minibatches rank the schemes.
  Metrics metrics;
  std::vector<OperandFacts> operands{};
};

/// One activation's memory that forward keeps for backward. It goes when every layer that reads it
/// keeps something else, unless other operations hold it too.
struct KeptActivation {
  std::int64_t bytes = 0;
  std::vector<std::string> layers;
  bool held_by_others = false;
};

struct ErrorTable {
  std::vector<ErrorRow> rows;
  std::vector<LqsChoice> lqs;
  std::vector<LayerFacts> facts{};            ///< of eligible layers; empty: not measured
  std::vector<KeptActivation> activations{};  ///< that eligible layers read
  Metrics whole{};                            ///< of the whole gradient: minibatch_noise
  std::vector<std::string> notes;

  /// The row of (layer, path, scheme), or nullptr.
  [[nodiscard]] const ErrorRow* find(const std::string& layer, Path path,
                                     const Scheme& scheme) const;
  /// Value of a layer's fact, or nullptr.
  [[nodiscard]] const Metric* fact(const std::string& layer, std::string_view name) const;
};

}  // namespace hot
