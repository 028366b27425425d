#pragma once

#include "analyzers/measure/options.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "core/progress.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::measure {

/// Every scheme's error on both gradients of every eligible layer of `trace`, on the real operands
/// inside the backward pass, one layer's operands at a time (methods.md, section 4). Throws
/// ModelError naming the layer for NaN or infinite operands.
[[nodiscard]] ErrorTable measure(const models::Model& model, const models::Inputs& inputs,
                                 const models::Loss& loss, const Trace& trace,
                                 const Options& options, const Progress& progress);

}  // namespace hot::measure
