#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzers/cost/geometry.hpp"
#include "backward/operands.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::cost {

/// Every call of each eligible layer, in order.
using Geometries = std::map<std::string, std::vector<Geometry>>;

/// What schemes do beyond their own gradient, found in the exact step of the first minibatch
/// (whoever runs it calls between(), add() and end()) and one forward pass with perturbed
/// parameters (finish):
///
/// weight_share: ‖gw‖²/‖g‖², measured.
/// input_share: how the error of grad_input goes on. Backward is linear in the gradient, so the
/// noise δ = nW that rounding gy by white n makes in gx reaches the parameters' gradients as Jδ,
/// and E‖Jδ‖² = E_u⟨Jᵀu, δ⟩² for any white u over the parameters. Jᵀu is the change of the layer's
/// input when the parameters change by u: one forward pass with perturbed parameters shows it in
/// every layer at once. With y' the layer's output for that change alone, over rows l:
///     input_share = ‖gx‖²/‖g‖² · Σ_l‖y'_l‖² / (L·‖W‖²·ε²)                       (modelled)
/// propagated_error of each row: what the scheme alone makes of the whole gradient's error, from
/// its own error and the share. activations and kept_bytes: whose memory each layer's x is, and
/// what a scheme keeps instead.
class StepFacts {
 public:
  /// `kept`: the schemes of grad_weight whose bytes are wanted; `samples`: of a minibatch. Counts
  /// what autograd saves from here until end().
  StepFacts(const models::Model& model, const Trace& trace, const std::vector<Scheme>& kept,
            std::int64_t samples);
  ~StepFacts();
  StepFacts(const StepFacts&) = delete;
  StepFacts& operator=(const StepFacts&) = delete;

  void between();
  void add(const backward::Operands& operands);
  void end(const models::StepResult& step);

  /// Runs the perturbed forward pass and writes the facts into `table`, which has its rows and
  /// input_norm already.
  [[nodiscard]] Geometries finish(const models::Batch& batch, const models::Loss& loss,
                                  std::uint64_t seed, ErrorTable& table);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hot::cost
