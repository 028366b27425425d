#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backward/layer_schemes.hpp"
#include "backward/operands.hpp"
#include "backward/window_runs.hpp"
#include "device/clock.hpp"
#include "device/scope.hpp"
#include "kernels/backward.hpp"

namespace hot::backward {

/// One planned layer at run time: its schemes, its counters, and the two products by scheme.
/// Thread-safe.
class ReplacedLayer {
 public:
  /// `seed`: layer_seed() of the run and the layer's name (core/rounding_seed.hpp).
  ReplacedLayer(LayerSchemes schemes, std::uint64_t seed, bool check)
      : schemes_(schemes), seed_(seed), check_(check) {}

  [[nodiscard]] const LayerSchemes& schemes() const { return schemes_; }

  /// True if forward should keep prepare_x() of this x instead of x.
  [[nodiscard]] bool compresses(const at::Tensor& x, const Window& window);

  /// True if forward should keep prepare_unfolded_x() of this x: a convolution whose unfolded input
  /// takes less than half of x once transformed and quantized (windows that hardly overlap).
  [[nodiscard]] bool compresses_unfolded(const at::Tensor& x, const Window& window);

  /// The layer's input as forward keeps it for backward: a matrix [L×I], or a convolution's image
  /// as pixel rows, quantized; the time is counted.
  [[nodiscard]] kernels::Operand prepare_x(const at::Tensor& x, const Window& window);

  /// A convolution's input unfolded, then prepared; the time is counted.
  [[nodiscard]] kernels::Operand prepare_unfolded_x(const at::Tensor& x, const Window& window);

  /// Where a window with these spatial sizes of x and y reads; made once.
  [[nodiscard]] std::shared_ptr<const WindowRuns> runs_of(const Window& window,
                                                          at::IntArrayRef image,
                                                          at::IntArrayRef positions);
  [[nodiscard]] std::shared_ptr<const WindowRuns> runs_of(const Operands& o) {
    return runs_of(o.window, at::IntArrayRef(o.x_sizes).slice(2), o.gy.sizes().slice(2));
  }

  /// gy [L×O] as operand of the two products.
  struct GyOperands {
    kernels::Operand input, weight;
  };

  /// Those of the paths that are asked for, in one go: gy is read once for what both need.
  [[nodiscard]] GyOperands prepare_gy(const Operands& o, bool input, bool weight);

  /// gx [L×I] of gy [L×O] and w [O×I] by the scheme.
  [[nodiscard]] at::Tensor grad_input(const kernels::Operand& gy, const at::Tensor& w);

  /// The same of an ordinary convolution: gy [N·positions×O], w its weight → an image like x.
  [[nodiscard]] at::Tensor convolution_grad_input(const kernels::Operand& gy, const Operands& o);

  /// gw [O×I] of gy [L×O] and the prepared x by the scheme.
  [[nodiscard]] at::Tensor grad_weight(const kernels::Operand& gy, const kernels::Operand& x);

  /// Adds the time of its life to the layer's counters, by the clock of the device where `work` is.
  class Timed {
   public:
    Timed(ReplacedLayer& layer, double LayerRuns::*seconds, const at::Tensor& work)
        : layer_(layer),
          seconds_(seconds),
          scope_(layer.work_of(seconds)),
          span_(device::clock_of(work.device())) {}
    ~Timed() {
      span_.end();
      layer_.add_time(seconds_, span_, 1);
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

   private:
    ReplacedLayer& layer_;
    double LayerRuns::*seconds_;
    device::WorkScope scope_;
    device::Span span_;
  };

  /// A product that the scheme leaves exact ran through the stand-in.
  void count_exact(Path path);

  /// On a GPU this waits for what is timed.
  [[nodiscard]] LayerRuns runs() const;

 private:
  /// A span that is still to be asked for its seconds: on a GPU that would wait.
  struct Pending {
    double LayerRuns::*seconds;
    device::Span span;
    double share;
  };
  /// What is told of the work that a counter counts; nothing while nobody is told.
  [[nodiscard]] device::Work work_of(double LayerRuns::*seconds) const;
  void add_time(double LayerRuns::*seconds, const device::Span& span, double share);
  /// Adds the first `count` pending spans to the counters.
  void settle(std::size_t count) const;

  std::uint64_t next_seed(Path path);
  void note_deviation(double deviation);

  LayerSchemes schemes_;
  std::uint64_t seed_;
  bool check_;
  mutable std::mutex mutex_;
  mutable LayerRuns runs_;
  mutable std::vector<Pending> pending_;
  std::map<std::vector<std::int64_t>, std::shared_ptr<const WindowRuns>> windows_;
};

}  // namespace hot::backward
