#include "analyzers/device/observe_step.hpp"

#include <mutex>

#include "analyzers/device/attribution.hpp"
#include "backward/recorder.hpp"
#include "core/errors.hpp"
#include "device/choose.hpp"
#include "device/scope.hpp"
#include "kernels/activity.hpp"
#include "kernels/memory_snapshot.hpp"
#include "kernels/nvtx.hpp"

namespace hot::device {
namespace {

/// Pushes an id for each piece of work, the same for the same work, and remembers what it means.
class Ids : public WorkObserver {
 public:
  explicit Ids(kernels::ActivitySession& session) : session_(session) {}
  void enter(const Work& work) override { session_.push(id_of(work)); }
  void leave() override { session_.pop(); }
  [[nodiscard]] const std::map<std::uint64_t, Work>& works() const { return works_; }

 private:
  std::uint64_t id_of(const Work& work) {
    const std::scoped_lock lock(mutex_);
    auto& id = ids_[work.text()];
    if (id == 0) {
      id = ids_.size();
      works_[id] = work;
    }
    return id;
  }

  kernels::ActivitySession& session_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> ids_;
  std::map<std::uint64_t, Work> works_;
};

struct Nobody : backward::Listener {};

void run(const verify::StepSetting& setting, const verify::Replaced& replaced) {
  std::unique_ptr<backward::Replacement> replacement;
  if (!replaced.empty())
    replacement = std::make_unique<backward::Replacement>(setting.model, replaced, setting.seed);
  (void)models::run_step(setting.model, setting.batch, setting.loss, setting.seed);
  synchronize(setting.model.device);
}

/// One observed step; the first is run unobserved.
DeviceStep observed(const verify::StepSetting& setting, const verify::Replaced& replaced,
                    std::string& reason) {
  std::unique_ptr<backward::Replacement> replacement;
  if (!replaced.empty())
    replacement = std::make_unique<backward::Replacement>(setting.model, replaced, setting.seed);
  const auto step = [&] {
    (void)models::run_step(setting.model, setting.batch, setting.loss, setting.seed);
  };
  step();
  synchronize(setting.model.device);
  kernels::ActivitySession session;
  reason = session.reason();
  if (!reason.empty()) return {};
  Ids ids(session);
  {
    const WatchedWork watched(ids);
    Nobody nobody;
    const backward::Recorder names(setting.model, nobody, false);
    step();
    names.rethrow();
    synchronize(setting.model.device);
  }
  const auto activities = session.stop();
  DeviceStep result = attribute(activities, ids.works());
  result.dropped = static_cast<std::int64_t>(session.dropped());
  return result;
}

}  // namespace

DeviceProfile profile_device(const verify::StepSetting& setting, const verify::Replaced& replaced) {
  DeviceProfile profile;
  profile.exact = observed(setting, {}, profile.reason);
  if (!profile.reason.empty() || replaced.empty()) return profile;
  profile.plan = observed(setting, replaced, profile.reason);
  return profile;
}

std::string snapshot_memory(const verify::StepSetting& setting, const verify::Replaced& replaced) {
  if (setting.model.device.is_cpu())
    throw EnvironmentError("a memory snapshot is of a GPU's allocator; the step runs on the CPU");
  const auto both = [&] {
    run(setting, {});
    if (!replaced.empty()) run(setting, replaced);
  };
  both();
  const kernels::MemoryHistory history;
  both();
  return kernels::memory_snapshot();
}

struct NvtxRanges::State : WorkObserver {
  void enter(const Work& work) override { kernels::nvtx_push(work.text().c_str()); }
  void leave() override { kernels::nvtx_pop(); }
  WatchedWork watched{*this};
};

NvtxRanges::NvtxRanges() : state_(std::make_unique<State>()) {}
NvtxRanges::~NvtxRanges() = default;

}  // namespace hot::device
