#pragma once

#include <cstdint>

#include "core/layer_trace.hpp"
#include "core/progress.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::trace {

/// What one exact training step does, layer by layer (first minibatch). Runs an observed step,
/// then, with nothing of it left, a plain one (timed, allocator watched). Throws ModelError naming
/// the layer when a gradient is NaN or infinite.
[[nodiscard]] Trace trace(const models::Model& model, const models::Inputs& inputs,
                          const models::Loss& loss, std::uint64_t seed, const Progress& progress);

}  // namespace hot::trace
