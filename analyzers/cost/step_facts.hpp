#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzers/cost/geometry.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::cost {

/// Every call of each eligible layer, in order.
using Geometries = std::map<std::string, std::vector<Geometry>>;

/// Two steps of the first minibatch fill in what schemes do beyond their own gradient:
///
/// weight_share: ‖gw‖²/‖g‖², measured.
/// input_share: how the error of grad_input goes on. Backward is linear in the gradient, so the
/// noise δ = nW that rounding gy by white n makes in gx reaches the parameters' gradients as Jδ,
/// and E‖Jδ‖² = E_u⟨Jᵀu, δ⟩² for any white u over the parameters. Jᵀu is the change of the layer's
/// input when the parameters change by u: one step with perturbed parameters shows it in every
/// layer at once. With y' the layer's output for that change alone, over rows l:
///     input_share = ‖gx‖²/‖g‖² · Σ_l‖y'_l‖² / (L·‖W‖²·ε²)                       (modelled)
/// activations and kept_bytes: whose memory each layer's x is, and what a scheme keeps instead.
///
/// `table` has its rows and input_norm already.
[[nodiscard]] Geometries add_step_facts(const models::Model& model, const models::Batch& batch,
                                        const models::Loss& loss, const Trace& trace,
                                        std::uint64_t seed, ErrorTable& table);

}  // namespace hot::cost
