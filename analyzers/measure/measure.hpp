#pragma once

#include <functional>

#include "analyzers/measure/options.hpp"
#include "backward/operands.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "core/progress.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::measure {

/// Who else watches the first minibatch's step, so that it need not run twice.
struct FirstStep {
  std::function<void()> between;                            ///< after forward, before backward
  std::function<void(const backward::Operands&)> operands;  ///< every call's, before it is measured
  std::function<void(const models::StepResult&)> done;      ///< with its exact gradients
};

/// Every scheme's error on both gradients of every eligible layer of `trace`, on the real operands
/// inside the backward pass, one layer's operands at a time (methods.md, section 4). Throws
/// ModelError naming the layer for NaN or infinite operands.
[[nodiscard]] ErrorTable measure(const models::Model& model, const models::Inputs& inputs,
                                 const models::Loss& loss, const Trace& trace,
                                 const Options& options, const Progress& progress,
                                 const FirstStep& first = {});

}  // namespace hot::measure
