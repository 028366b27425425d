#pragma once

#include <c10/core/StorageImpl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/model.hpp"

namespace hot::backward {

/// Told what autograd begins to hold and lets go, by storage; parameters are left out. Called on
/// the thread that does it, one call at a time.
class SavedListener {
 public:
  virtual ~SavedListener() = default;
  /// A saved variable holds `tensor`, made by `owner`'s operation; several can hold one storage.
  virtual void on_keep(const at::Tensor& tensor, const std::string& owner) = 0;
  /// The last saved variable of the storage is gone.
  virtual void on_release(const c10::StorageImpl* storage) = 0;
};

/// Counts what autograd holds for the backward pass while alive: every storage once, parameters
/// left out, each under the layer (or module path) whose operation saved it first. What the graph
/// lets go is no longer counted, so ask between forward and backward. The bytes are those of the
/// storages themselves. Replaces the autograd engine's default by a subclass at the first use, for
/// the rest of the process (torchscript.md 3.5); results don't change. One at a time.
class SavedBytes {
 public:
  explicit SavedBytes(const models::Model& model, SavedListener* listener = nullptr);
  ~SavedBytes();
  SavedBytes(const SavedBytes&) = delete;
  SavedBytes& operator=(const SavedBytes&) = delete;

  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] std::map<std::string, std::int64_t> by_owner() const;

  /// One storage that autograd holds, and who saved it: once for each saved variable.
  struct Storage {
    std::int64_t bytes = 0;
    std::vector<std::string> owners;
  };
  /// By the storage's address, which means nothing once the graph has let it go.
  [[nodiscard]] std::unordered_map<const c10::StorageImpl*, Storage> storages() const;

  /// Must be called once before the process's first backward pass.
  static void install();

 private:
  struct State;
  std::shared_ptr<State> state_;
  friend struct SavedBytesHook;
};

}  // namespace hot::backward
