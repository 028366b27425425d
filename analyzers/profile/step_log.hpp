#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzers/profile/op_event.hpp"
#include "backward/recorder.hpp"

namespace hot::profile {

/// What a memory report on this thread belongs to at the moment.
struct Here {
  std::string op;           ///< outermost operation or node; empty between operations
  std::string owner;        ///< layer or module
  std::int64_t serial = 0;  ///< number of the outermost operation, 0 between operations
  Phase phase = Phase::forward;
};

/// Notes every operation and backward node of a step while alive, and knows which layer and which
/// product each belongs to (backward::Recorder). RecordFunction callbacks; nothing is replaced. It
/// takes memory while it watches, and `deep` logs also find modules and count bytes: their times
/// are no measurement (StepClock's are). One at a time.
class StepLog {
 public:
  StepLog(const models::Model& model, bool deep);
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  void set_phase(Phase phase);
  [[nodiscard]] double now() const;  ///< seconds since the log was made

  /// Ends the watching; what was noted stays.
  void stop();
  /// Call after the step: throws what watching it threw.
  void rethrow() const;

  /// In order of their begin on each thread.
  [[nodiscard]] const std::vector<OpEvent>& events() const;
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
