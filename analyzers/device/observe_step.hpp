#pragma once

#include <memory>
#include <string>

#include "analyzers/verify/step_run.hpp"
#include "core/device_profile.hpp"

namespace hot::device {

/// What the GPU does in one step, and in one by the plan where `replaced` isn't empty: CUPTI's
/// records, attributed to layers and paths by the ids that are pushed around each. After one step
/// of each for warming up. Where CUPTI can't be used the result says why, and holds nothing else.
[[nodiscard]] DeviceProfile profile_device(const verify::StepSetting& setting,
                                           const verify::Replaced& replaced);

/// Torch's own snapshot of the GPU's allocator with the history of one exact step and, where
/// `replaced` isn't empty, of one by the plan after it; each was run once before. Throws
/// EnvironmentError where the step's device is no GPU.
[[nodiscard]] std::string snapshot_memory(const verify::StepSetting& setting,
                                          const verify::Replaced& replaced);

/// While alive, each layer's work is an NVTX range for tools that listen. For runs on a GPU.
class NvtxRanges {
 public:
  NvtxRanges();
  ~NvtxRanges();
  NvtxRanges(const NvtxRanges&) = delete;
  NvtxRanges& operator=(const NvtxRanges&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hot::device
