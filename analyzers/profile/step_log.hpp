#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backward/recorder.hpp"

namespace hot::profile {

/// Which half of a step runs.
enum class Phase { forward, backward, optimizer };

[[nodiscard]] const char* to_string(Phase phase);

/// An operation or a backward node, from its start to its end.
struct Slice {
  std::string name;
  int site = -1;       ///< index into StepLog::sites(), -1 outside layers
  std::string module;  ///< where no site is known; filled by deep logs alone
  Phase phase = Phase::forward;
  bool node = false;   ///< a node of the backward pass; what runs inside has its own slices
  unsigned paths = 0;  ///< bits 1 << Path of the products that it ran
  int thread = 0;
  double begin = 0;  ///< seconds since the log was made
  double end = 0;
  double own = 0;          ///< seconds that belong to it and to no other slice
  std::int64_t bytes = 0;  ///< tensors read and written; deep logs alone, 0 for views
};

/// What a memory report on this thread belongs to at the moment.
struct Here {
  std::string op;           ///< outermost operation or node; empty between operations
  std::string owner;        ///< layer or module
  std::int64_t serial = 0;  ///< number of the outermost operation, 0 between operations
  Phase phase = Phase::forward;
};

/// Times every outermost operation and every backward node of a step while alive, and knows which
/// layer and which product each belongs to (backward::Recorder). RecordFunction callbacks; nothing
/// is replaced. `deep` logs also find modules and count bytes, which takes time: their times are no
/// measurement. One at a time.
class StepLog {
 public:
  StepLog(const models::Model& model, bool deep);
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  void set_phase(Phase phase);
  [[nodiscard]] double now() const;  ///< seconds since the log was made

  /// Call after the step: throws what watching it threw.
  void rethrow() const;

  [[nodiscard]] const std::vector<Slice>& slices() const;
  [[nodiscard]] const std::vector<backward::Site>& sites() const;
  /// Bytes of x, weight and y of each site, summed over its calls.
  [[nodiscard]] const std::vector<std::int64_t>& site_bytes() const;

  /// For memory reports, of the thread that asks; meaningful while a deep log is alive.
  [[nodiscard]] static Here here();

 private:
  struct State;
  std::shared_ptr<State> state_;
  friend struct StepLogCallbacks;
};

}  // namespace hot::profile
