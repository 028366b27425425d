#pragma once

#include <string>
#include <vector>

#include "analyzers/measure/layer_products.hpp"
#include "analyzers/measure/lqs.hpp"
#include "analyzers/measure/options.hpp"
#include "analyzers/measure/product.hpp"
#include "backward/operands.hpp"
#include "core/error_table.hpp"

namespace hot::measure {

/// Measures one layer: every call of every batch is added while its operands are at hand, and the
/// rows are written at the end. Squares of errors and of gradients add over calls and batches, for
/// grad_weight too (calls of a shared weight are compared one by one, not their sum).
class LayerMeter {
 public:
  LayerMeter(std::string layer, const std::vector<Scheme>& schemes, const Options& options);

  /// The paths that the call needs. Throws ModelError naming the layer and the operand for NaN or
  /// infinite values.
  void add(const backward::Operands& operands);
  void end_batch();

  [[nodiscard]] const std::string& layer() const { return layer_; }

  /// Appends this layer's rows, its facts, its LQS choice and its notes. A path without any
  /// gradient other than zero gets a note and no rows.
  void write(ErrorTable& table) const;

 private:
  struct PathMeter {
    Path path;
    std::vector<Scheme> schemes;
    std::vector<SchemeMeter> meters;
    bool resolved = false;
    std::vector<std::string> notes{};  ///< schemes that the layer can't have, or that do nothing
    int calls = 0;
    int zero_calls = 0;                    ///< whose output's gradient was exactly zero
    std::vector<OperandFacts> operands{};  ///< of the first call with a gradient
  };

  void add(const backward::Operands& operands, const OutputGradient& gy, PathMeter& path);
  void resolve(const backward::Operands& operands, PathMeter& path);
  void write(const PathMeter& path, ErrorTable& table) const;

  std::string layer_;
  Options options_;
  PathMeter grad_input_;
  PathMeter grad_weight_;
  LqsErrors lqs_;
  int calls_ = 0;
  int batches_ = 0;
  bool any_gradient_ = false;
};

}  // namespace hot::measure
