#pragma once

#include <map>
#include <string>
#include <vector>

#include "backward/recorder.hpp"
#include "core/layer_trace.hpp"

namespace hot::trace {

/// Collects what a Recorder tells about one step: each site's products, and where values stop being
/// finite or are all zero.
class StepWatcher : public backward::Listener {
 public:
  void on_forward(const backward::Call& call, const std::vector<GemmShape>& shapes) override;
  void on_backward(const backward::Call& call) override;
  void on_gemm(const backward::Call* call, Path path, const GemmShape& shape) override;
  void on_backward_done(const backward::Call& call, const device::Span& span) override;

  struct SiteWork {
    std::array<PathWork, 3> paths;
    bool gradient_seen = false;     ///< a backward node ran
    bool gradient_nonzero = false;  ///< some element of some call's gy isn't zero
  };

  [[nodiscard]] const std::vector<SiteWork>& work() const { return work_; }
  [[nodiscard]] std::int64_t forward_flops() const { return forward_flops_; }
  [[nodiscard]] std::int64_t backward_flops() const { return backward_flops_; }

  /// First layer in the forward order whose input holds NaN or infinity; empty if none.
  [[nodiscard]] const std::string& bad_input() const { return bad_input_; }
  /// First layer in the backward order whose output gradient holds NaN or infinity; empty if none.
  [[nodiscard]] const std::string& bad_gradient() const { return bad_gradient_; }

 private:
  SiteWork& at(std::size_t site);

  std::vector<SiteWork> work_;
  std::int64_t forward_flops_ = 0;
  std::int64_t backward_flops_ = 0;
  std::string bad_input_;
  std::string bad_gradient_;
};

}  // namespace hot::trace
