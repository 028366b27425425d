#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzers/profile/step_log.hpp"
#include "backward/saved_bytes.hpp"

namespace hot::profile {

/// Times at which a piece of memory was held for backward, as numbers of events.
struct HeldForBackward {
  std::size_t from = 0;
  std::size_t to = 0;  ///< event before which it was let go; 0 while it is held
};

/// One piece of memory from the allocator.
struct Allocation {
  std::int64_t bytes = 0;
  std::size_t born = 0;      ///< number of its event
  std::size_t died = 0;      ///< 0 while it lives
  Here here;                 ///< what ran when it was taken
  std::int64_t died_in = 0;  ///< serial of the operation that gave it back
  bool in_model = false;     ///< taken while the model's interpreter ran
  bool gradient = false;     ///< of a parameter, still there at the end
  std::vector<HeldForBackward> held;
  std::string tensor;  ///< what was saved of it: "float32 8x197x768"
  std::string owner;   ///< layer that saved it first
  std::set<std::string> more_owners;
};

struct MemoryEvent {
  double seconds = 0;
  std::int64_t bytes = 0;  ///< negative: given back
  std::size_t allocation = 0;
};

/// A storage that the graph keeps, as of the moment between forward and backward.
struct SavedStorage {
  std::string owner;
  std::string op;
  std::set<std::string> more_owners;
  std::int64_t bytes = 0;
  std::int64_t variables = 0;
};

/// Follows every allocation and free of the CPU allocator on this thread and those it starts while
/// alive (c10 memory reporting), and what autograd saves. Needs a deep StepLog for its life. What
/// libraries take past the allocator, oneDNN's scratchpads say, is not seen.
class MemoryLog : public backward::SavedListener {
 public:
  MemoryLog(const StepLog& steps, c10::Device device);
  ~MemoryLog() override;
  MemoryLog(const MemoryLog&) = delete;
  MemoryLog& operator=(const MemoryLog&) = delete;

  /// Ends the reports; what follows isn't seen.
  void stop();
  /// Marks what holds these tensors as parameter gradients. Before the tensors go.
  void mark_gradients(const std::vector<at::Tensor>& gradients);
  /// What the graph keeps now, each storage once.
  [[nodiscard]] std::vector<SavedStorage> saved() const;

  [[nodiscard]] const std::vector<Allocation>& allocations() const;
  [[nodiscard]] const std::vector<MemoryEvent>& events() const;
  [[nodiscard]] std::int64_t peak_bytes() const;
  /// Highest of the allocator's own count of bytes, above that at the first event.
  [[nodiscard]] std::int64_t allocator_peak_bytes() const;

  void on_keep(const at::Tensor& tensor, const std::string& maker) override;
  void on_release(const c10::StorageImpl* storage) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hot::profile
