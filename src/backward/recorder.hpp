#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backward/operands.hpp"
#include "core/gemm_shape.hpp"
#include "device/clock.hpp"
#include "models/model.hpp"

namespace hot::backward {

/// One layer as a step meets it: a weight, or a product without one at its place in the module
/// tree.
struct Site {
  std::string name;
  std::vector<std::string> aliases;
  LayerKind kind = LayerKind::other;
  std::string op;      ///< outermost operation of the first call
  int parameter = -1;  ///< index into Model::parameters, -1 for none
  std::vector<std::int64_t> weight_shape;
  std::string obstacle;  ///< why its backward can't be approximated, empty if it can
  int calls = 0;
};

/// One call of a site in the forward pass.
struct Call {
  std::size_t site = 0;
  int index = 0;      ///< number of the call within the step
  Operands operands;  ///< gy is undefined until the backward pass; x and weight only where autograd
                      ///< keeps them too
  const c10::StorageImpl* a =
      nullptr;  ///< storages of the factors, to tell the two gradients apart
  const c10::StorageImpl* b = nullptr;
  int gemms_seen = 0;  ///< products that its backward node has run so far
};

/// What a Recorder tells. Called on whichever thread runs the step, one call at a time.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_forward(const Call&, const std::vector<GemmShape>&) {}
  /// Before the node's own gradients are computed; `call.operands.gy` is set.
  virtual void on_backward(const Call&) {}
  /// A product inside a backward node; `call` is nullptr for nodes of no known site.
  virtual void on_gemm(const Call* /*call*/, Path, const GemmShape&) {}
  /// The node is done, on a GPU started; `span` leaves out what on_backward() took. Ask it for
  /// seconds when the step is over: on a GPU that waits.
  virtual void on_backward_done(const Call&, const device::Span& /*span*/) {}
};

/// Watches every operation of this process while alive (RecordFunction callbacks; nothing is
/// replaced, so gradients stay bit-identical) and links each backward node to the forward call that
/// made it by thread and sequence number (torchscript.md 3.2). Forked tasks are seen too. One at a
/// time.
class Recorder {
  friend struct RecorderCallbacks;

 public:
  /// `keeps_x`: calls hold their layer's input until backward, as autograd does in exact steps. A
  /// plan's step lets it go: without `keeps_x` its memory is what it is unobserved.
  Recorder(const models::Model& model, Listener& listener, bool keeps_x = true);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] const std::vector<Site>& sites() const;

  /// Rethrows what a listener threw: exceptions cannot leave the callbacks themselves. After one
  /// nothing more is told.
  void rethrow() const;

  /// Name of the site whose product runs on this thread in the forward pass, or its module path;
  /// for attributing memory.
  [[nodiscard]] static std::string current_owner();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hot::backward
