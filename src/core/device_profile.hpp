#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hot {

/// A kernel, a kind of copy or a filling of memory, as one layer's path ran it in one step.
struct DeviceWork {
  std::string layer;   ///< empty: no layer's
  std::string path;    ///< "forward", "grad_input", "grad_weight", "backward"; empty: none
  std::string scheme;  ///< that it ran by; empty where nothing was replaced
  std::string kind;    ///< "kernel", "copy", "set"
  std::string name;
  std::int64_t count = 0;
  double ms = 0;                       ///< on the GPU, all together
  double share = 0;                    ///< of the GPU's time in the step
  std::array<int, 3> grid{}, block{};  ///< of the longest
  int registers = 0;                   ///< a thread
  std::int64_t shared_bytes = 0;       ///< a block
  std::int64_t bytes = 0;              ///< copied or set, all together
};

/// What a GPU did in one step.
struct DeviceStep {
  double busy_ms = 0;  ///< some work ran
  double span_ms = 0;  ///< from the first piece of work to the end of the last
  std::int64_t allocated_bytes =
      0;                         ///< asked of the driver; the caching allocator's reserve is not
  std::int64_t dropped = 0;      ///< records that were lost
  std::vector<DeviceWork> work;  ///< longest first
};

/// Steps as CUPTI recorded them, or why it didn't.
struct DeviceProfile {
  std::string reason;  ///< empty where there are records
  DeviceStep exact;
  DeviceStep plan;  ///< without work where there is no plan
};

}  // namespace hot
