#pragma once

#include <cstddef>
#include <string>

namespace hot::kernels {

/// Torch's own record of what its CUDA allocator does while alive: every allocation and free with
/// the stack of TorchScript frames that asked for it. One at a time.
class MemoryHistory {
 public:
  /// Throws EnvironmentError where this program or this LibTorch can't record, or there is no GPU.
  MemoryHistory();
  ~MemoryHistory();
  MemoryHistory(const MemoryHistory&) = delete;
  MemoryHistory& operator=(const MemoryHistory&) = delete;
};

/// Torch's snapshot of the CUDA allocator as torch.cuda.memory._dump_snapshot writes it (a pickle):
/// all segments and, inside a MemoryHistory, its events. For PyTorch's memory_viz. Throws as above.
[[nodiscard]] std::string memory_snapshot();

}  // namespace hot::kernels
