#include "device/scope.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace hot::device {
namespace {

std::mutex mutex;
std::vector<WorkObserver*> observers;
std::atomic<int> count{0};

/// The scopes of this thread, each with those who were told of it.
struct Entered {
  std::string layer;
  std::vector<WorkObserver*> told;
};
thread_local std::vector<Entered> entered;

}  // namespace

std::string Work::text() const {
  std::string all = layer;
  for (const std::string* part : {&path, &scheme})
    if (!part->empty()) all += (all.empty() ? "" : " / ") + *part;
  return all;
}

bool work_is_watched() {
  return count.load(std::memory_order_relaxed) > 0;
}

WatchedWork::WatchedWork(WorkObserver& observer) : observer_(observer) {
  const std::scoped_lock lock(mutex);
  observers.push_back(&observer_);
  ++count;
}

WatchedWork::~WatchedWork() {
  const std::scoped_lock lock(mutex);
  std::erase(observers, &observer_);
  --count;
}

WorkScope::WorkScope(Work work) {
  if (!work_is_watched()) return;
  told_ = true;
  if (work.layer.empty() && !entered.empty()) work.layer = entered.back().layer;
  Entered now{work.layer, {}};
  {
    const std::scoped_lock lock(mutex);
    now.told = observers;
  }
  for (WorkObserver* observer : now.told) observer->enter(work);
  entered.push_back(std::move(now));
}

WorkScope::WorkScope(WorkScope&& other) noexcept : told_(std::exchange(other.told_, false)) {}

WorkScope::~WorkScope() {
  if (!told_) return;
  const Entered last = std::move(entered.back());
  entered.pop_back();
  const std::scoped_lock lock(mutex);
  for (WorkObserver* observer : last.told)
    if (std::find(observers.begin(), observers.end(), observer) != observers.end())
      observer->leave();
}

}  // namespace hot::device
