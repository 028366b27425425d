#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backward/operands.hpp"
#include "backward/saved_bytes.hpp"
#include "core/error_table.hpp"

namespace hot::cost {

/// Which layers read which activation, and what the schemes keep in its place, gathered during one
/// backward pass.
class KeptMemory {
 public:
  /// `samples` of the minibatch: where the rows of a sample matter.
  KeptMemory(std::vector<Scheme> schemes, std::int64_t samples)
      : schemes_(std::move(schemes)), samples_(samples) {}

  /// What the graph holds, asked between forward and backward.
  void snapshot(std::unordered_map<const c10::StorageImpl*, backward::SavedBytes::Storage> held) {
    held_ = std::move(held);
  }
  /// One call with its x, which the graph still holds.
  void add(const backward::Operands& o);

  /// Sets activations, and kept_bytes of every grad_weight row.
  void write(ErrorTable& table) const;

 private:
  std::vector<Scheme> schemes_;
  std::int64_t samples_;
  std::unordered_map<const c10::StorageImpl*, backward::SavedBytes::Storage> held_;
  std::map<const c10::StorageImpl*, std::set<std::string>> readers_;
  std::map<std::string, std::vector<double>> kept_;  ///< layer → bytes by scheme
};

}  // namespace hot::cost
