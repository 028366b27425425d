#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gemm_shape.hpp"

namespace hot {

enum class LayerKind { linear, conv, conv_transpose, matmul, attention, recurrent, other };

[[nodiscard]] const char* to_string(LayerKind kind);

/// The GEMMs that one path of a layer really ran in a step, summed over its calls.
struct PathWork {
  std::vector<GemmShape> gemms;  ///< distinct shapes in order of first appearance
  std::int64_t calls = 0;        ///< how many times the path ran
  std::int64_t flops = 0;        ///< over all calls
};

/// One layer, known by its weight, or by its place in the module tree where there is none.
struct LayerTrace {
  std::string name;
  std::vector<std::string> aliases;  ///< further parameter names of a tied or shared weight
  LayerKind kind = LayerKind::other;
  std::string op;                           ///< outermost operation, e.g. "aten::linear"
  int calls = 0;                            ///< forward calls in one step
  std::vector<std::int64_t> weight_shape;   ///< empty for products of activations
  std::array<PathWork, 3> work;             ///< indexed by Path
  std::int64_t saved_activation_bytes = 0;  ///< unique storages kept for backward, weights left out
  bool eligible = false;
  std::string reason;              ///< why it isn't eligible; empty if it is
  std::vector<std::string> notes;  ///< one sentence each: zero gradient, not reached by the loss …

  [[nodiscard]] const PathWork& path(Path p) const { return work[static_cast<std::size_t>(p)]; }
  [[nodiscard]] PathWork& path(Path p) { return work[static_cast<std::size_t>(p)]; }
};

/// What one exact training step of the model did.
struct Trace {
  std::vector<LayerTrace> layers;   ///< in order of first forward call
  std::int64_t backward_flops = 0;  ///< all GEMMs of the backward pass, those outside layers too
  std::int64_t forward_flops = 0;
  std::int64_t saved_bytes = 0;  ///< unique activation storages that the graph kept, whole model
  std::int64_t peak_bytes = 0;   ///< highest allocation above the start of the step
  double loss = 0;
  double step_seconds = 0;         ///< measured, one plain step without hooks
  std::vector<std::string> notes;  ///< findings about the whole model, one sentence each
};

}  // namespace hot
