#include "backward/saved_bytes.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <mutex>
#include <unordered_map>

#include "backward/layer_book.hpp"
#include "backward/recorder.hpp"

namespace hot::backward {

struct SavedBytes::State {
  State(const models::Model& model, SavedListener* l) : book(model), listener(l) {}

  struct Kept {
    std::vector<std::string> owners;  ///< of the saved variables, in order
    std::int64_t bytes = 0;
    int nodes = 0;  ///< how many saved variables hold the storage now
  };

  LayerBook book;
  SavedListener* listener;
  mutable std::mutex mutex;
  std::unordered_map<const c10::StorageImpl*, Kept> kept;

  void keep(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage()) return;
    const auto* storage = tensor.storage().unsafeGetStorageImpl();
    const std::lock_guard lock(mutex);
    if (book.is_parameter_storage(storage)) return;
    auto& entry = kept[storage];
    const std::string owner = Recorder::current_owner();
    if (listener != nullptr) listener->on_keep(tensor, owner);
    entry.owners.push_back(owner);
    if (entry.nodes++ == 0) {
      entry.bytes = static_cast<std::int64_t>(storage->nbytes());
    }
  }

  void release(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage()) return;
    const std::lock_guard lock(mutex);
    const auto found = kept.find(tensor.storage().unsafeGetStorageImpl());
    if (found == kept.end() || --found->second.nodes > 0) return;
    if (listener != nullptr) listener->on_release(found->first);
    kept.erase(found);
  }
};

namespace {

std::mutex active_mutex;
std::shared_ptr<void> active;

}  // namespace

/// Keeps the tensor as autograd itself would, and tells the counter.
struct SavedBytesHook : torch::autograd::SavedVariableHooks {
  explicit SavedBytesHook(std::shared_ptr<SavedBytes::State> s) : state(std::move(s)) {}
  ~SavedBytesHook() override { state->release(tensor); }
  SavedBytesHook(const SavedBytesHook&) = delete;
  SavedBytesHook& operator=(const SavedBytesHook&) = delete;
  void call_pack_hook(const at::Tensor& t) override {
    tensor = t;
    state->keep(t);
  }
  at::Tensor call_unpack_hook() override { return tensor; }

  std::shared_ptr<SavedBytes::State> state;
  at::Tensor tensor;

  static std::unique_ptr<torch::autograd::SavedVariableHooks> make() {
    const std::lock_guard lock(active_mutex);
    if (!active) return nullptr;
    return std::make_unique<SavedBytesHook>(std::static_pointer_cast<SavedBytes::State>(active));
  }
};

namespace {

struct Engine : torch::autograd::Engine {
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    return SavedBytesHook::make();
  }
};

torch::autograd::Engine& engine() {
  static auto* instance = new Engine;  // the engine's threads outlive static destruction
  return *instance;
}

}  // namespace

void SavedBytes::install() {
  static const bool once = (torch::autograd::set_default_engine_stub(engine), true);
  (void)once;
}

SavedBytes::SavedBytes(const models::Model& model, SavedListener* listener)
    : state_(std::make_shared<State>(model, listener)) {
  install();
  const std::lock_guard lock(active_mutex);
  active = state_;
}

SavedBytes::~SavedBytes() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->listener = nullptr;  // a graph that is still alive releases later
  }
  const std::lock_guard lock(active_mutex);
  active.reset();
}

std::int64_t SavedBytes::total() const {
  const std::lock_guard lock(state_->mutex);
  std::int64_t sum = 0;
  for (const auto& [storage, entry] : state_->kept) sum += entry.bytes;
  return sum;
}

std::map<std::string, std::int64_t> SavedBytes::by_owner() const {
  const std::lock_guard lock(state_->mutex);
  std::map<std::string, std::int64_t> sums;
  for (const auto& [storage, entry] : state_->kept) sums[entry.owners.front()] += entry.bytes;
  return sums;
}

std::unordered_map<const c10::StorageImpl*, SavedBytes::Storage> SavedBytes::storages() const {
  const std::lock_guard lock(state_->mutex);
  std::unordered_map<const c10::StorageImpl*, Storage> result;
  for (const auto& [storage, entry] : state_->kept) {
    result[storage] = {entry.bytes, entry.owners};
  }
  return result;
}

}  // namespace hot::backward
