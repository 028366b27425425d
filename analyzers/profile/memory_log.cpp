#include "analyzers/profile/memory_log.hpp"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

namespace hot::profile {
namespace {

/// "float32 8x197x768".
std::string describe(const at::Tensor& t) {
  const char* name = c10::toString(t.scalar_type());
  static const std::map<at::ScalarType, const char*> names = {
      {at::kFloat, "float32"}, {at::kDouble, "float64"},    {at::kHalf, "float16"},
      {at::kChar, "int8"},     {at::kBFloat16, "bfloat16"}, {at::kByte, "uint8"},
      {at::kInt, "int32"},     {at::kLong, "int64"},        {at::kBool, "bool"}};
  const auto known = names.find(t.scalar_type());
  return fmt::format("{} {}", known == names.end() ? name : known->second,
                     fmt::join(t.sizes(), "x"));
}

}  // namespace

struct MemoryLog::State : c10::MemoryReportingInfoBase {
  State(const StepLog& s, c10::Device device) : steps(s), watched(device) { events.emplace_back(); }

  void reportMemoryUsage(void* pointer, std::int64_t bytes, std::size_t total, std::size_t,
                         c10::Device device) override {
    if (device != watched || bytes == 0) return;
    const std::lock_guard lock(mutex);
    if (events.size() == 1) allocator_start = static_cast<std::int64_t>(total) - bytes;
    allocator_peak = std::max(allocator_peak, static_cast<std::int64_t>(total) - allocator_start);
    current += bytes;
    peak = std::max(peak, current);
    MemoryEvent event{steps.now(), bytes, 0};
    if (bytes > 0) {
      event.allocation = allocations.size();
      live[pointer] = allocations.size();
      Allocation allocation;
      allocation.bytes = bytes;
      allocation.born = events.size();
      allocation.here = StepLog::here();
      allocation.in_model = !torch::jit::currentModuleHierarchy().empty();
      allocations.push_back(std::move(allocation));
    } else if (const auto found = live.find(pointer); found != live.end()) {
      event.allocation = found->second;
      allocations[found->second].died = events.size();
      allocations[found->second].died_in = StepLog::here().serial;
      live.erase(found);
    } else {
      event.allocation = kUnknown;  // taken before the log began
    }
    events.push_back(event);
  }
  bool memoryProfilingEnabled() const override { return true; }

  static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

  struct Kept {
    SavedStorage storage;
    std::size_t allocation = kUnknown;
  };

  const StepLog& steps;
  c10::Device watched;
  mutable std::mutex mutex;
  std::vector<MemoryEvent> events;  // the first stands for the step's start
  std::vector<Allocation> allocations;
  std::unordered_map<const void*, std::size_t> live;
  std::unordered_map<const c10::StorageImpl*, Kept> kept;
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocator_start = 0;
  std::int64_t allocator_peak = 0;
  std::optional<c10::DebugInfoGuard> guard;
};

MemoryLog::MemoryLog(const StepLog& steps, c10::Device device)
    : state_(std::make_shared<State>(steps, device)) {
  state_->guard.emplace(c10::DebugInfoKind::PROFILER_STATE, state_);
}

MemoryLog::~MemoryLog() {
  stop();
}

void MemoryLog::stop() {
  state_->guard.reset();
}

void MemoryLog::on_keep(const at::Tensor& tensor, const std::string& maker) {
  const auto* storage = tensor.storage().unsafeGetStorageImpl();
  const Here here = StepLog::here();
  const std::string& op = here.op;
  const std::string& owner = here.owner.empty() ? maker : here.owner;
  const std::lock_guard lock(state_->mutex);
  auto& kept = state_->kept[storage];
  if (kept.storage.variables++ > 0) {
    if (owner == kept.storage.owner) return;
    kept.storage.more_owners.insert(owner);
    if (kept.allocation != State::kUnknown)
      state_->allocations[kept.allocation].more_owners.insert(owner);
    return;
  }
  kept.storage.owner = owner;
  kept.storage.op = op;
  kept.storage.bytes = static_cast<std::int64_t>(storage->nbytes());
  const auto found = state_->live.find(storage->data());
  if (found == state_->live.end()) return;
  kept.allocation = found->second;
  auto& allocation = state_->allocations[found->second];
  if (allocation.held.empty()) {
    allocation.owner = owner;
    allocation.tensor = fmt::format("{} of {}", describe(tensor), op);
  }
  allocation.held.push_back({state_->events.size(), 0});
}

void MemoryLog::on_release(const c10::StorageImpl* storage) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->kept.find(storage);
  if (found == state_->kept.end()) return;
  if (found->second.allocation != State::kUnknown)
    state_->allocations[found->second.allocation].held.back().to = state_->events.size();
  state_->kept.erase(found);
}

void MemoryLog::mark_gradients(const std::vector<at::Tensor>& gradients) {
  const std::lock_guard lock(state_->mutex);
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.defined() || !gradient.has_storage()) continue;
    const auto found = state_->live.find(gradient.storage().data());
    if (found != state_->live.end()) state_->allocations[found->second].gradient = true;
  }
}

std::vector<SavedStorage> MemoryLog::saved() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<SavedStorage> result;
  result.reserve(state_->kept.size());
  for (const auto& [storage, kept] : state_->kept) result.push_back(kept.storage);
  return result;
}

const std::vector<Allocation>& MemoryLog::allocations() const {
  return state_->allocations;
}

const std::vector<MemoryEvent>& MemoryLog::events() const {
  return state_->events;
}

std::int64_t MemoryLog::peak_bytes() const {
  return state_->peak;
}

std::int64_t MemoryLog::allocator_peak_bytes() const {
  return state_->allocator_peak;
}

}  // namespace hot::profile
