#include "analyzers/profile/step_clock.hpp"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace hot::profile {
namespace {

constexpr std::size_t kDepth = 256;  ///< deeper operations have no time
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kProbes = 4000;
constexpr int kProbeRuns = 5;

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// Ticks under way on this thread.
struct Running {
  std::array<std::size_t, kDepth> ticks{};
  std::size_t depth = 0;
  bool watched = false;
};
thread_local Running running;

std::atomic<Ticks*> active{nullptr};

/// Seconds of kProbes operations that do next to nothing and run no other, the fastest of several
/// runs.
double probe(const std::function<void()>& before) {
  const at::NoGradGuard no_grad;
  const at::Tensor tensor = at::zeros({1});
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kProbeRuns; ++run) {
    before();
    const std::int64_t start = now();
    for (std::size_t i = 0; i < kProbes; ++i) static_cast<void>(tensor.is_same_size(tensor));
    best = std::min(best, static_cast<double>(now() - start) * 1e-9);
  }
  return best;
}

}  // namespace

/// RecordFunction takes plain function pointers.
struct StepClock::Callbacks {
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& fn) {
    Ticks* ticks = active.load(std::memory_order_relaxed);
    if (ticks == nullptr || !running.watched) return nullptr;
    const std::size_t i = ticks->count_++;
    const bool noted = i < ticks->ticks_.size() && ticks->wanted_[i] != 0;
    if (running.depth < kDepth) running.ticks[running.depth] = noted ? i : kNone;
    ++running.depth;
    if (noted) ticks->ticks_[i] = {hash(fn.name()), now(), 0};
    return nullptr;
  }

  static void end(const at::RecordFunction&, at::ObserverContext*) {
    Ticks* ticks = active.load(std::memory_order_relaxed);
    if (ticks == nullptr || !running.watched || running.depth == 0) return;
    if (--running.depth >= kDepth) return;
    const std::size_t i = running.ticks[running.depth];
    if (i != kNone) ticks->ticks_[i].end = now();
  }

  static std::uint64_t add(at::RecordScope scope) {
    return at::addGlobalCallback(at::RecordFunctionCallback(begin, end).scopes({scope}));
  }
};

StepClock::StepClock(Ticks& ticks, std::size_t first) {
  ticks.clear(first);
  running.depth = 0;
  running.watched = true;
  active = &ticks;
  operations_ = Callbacks::add(at::RecordScope::FUNCTION);
  nodes_ = Callbacks::add(at::RecordScope::BACKWARD_FUNCTION);
}

StepClock::~StepClock() {
  at::removeCallback(operations_);
  at::removeCallback(nodes_);
  active = nullptr;
  running.watched = false;
}

std::uint64_t StepClock::hash(const char* name) {
  return std::hash<std::string_view>{}(name);
}

HookCost measure_hook() {
  const double bare = probe([] {});
  const auto watched = [](Ticks& ticks) {
    const StepClock clock(ticks);
    return probe([&] { ticks.clear(); });
  };
  Ticks noted(kProbes);
  Ticks counted(std::vector<std::uint8_t>(kProbes, 0));
  constexpr auto n = static_cast<double>(kProbes);
  HookCost cost;
  cost.whole = std::max(0.0, (watched(noted) - bare) / n);
  cost.count = std::clamp((watched(counted) - bare) / n, 0.0, cost.whole);
  double inside = 0;
  for (std::size_t i = 0; i < kProbes; ++i)
    inside += static_cast<double>(noted[i].end - noted[i].begin) * 1e-9;
  cost.inside = std::clamp((inside - bare) / n, 0.0, cost.whole);
  return cost;
}

MeanEvents::MeanEvents(std::vector<OpEvent> events, HookCost cost) : cost_(cost) {
  for (OpEvent& event : events) {
    if (events_.empty() || event.thread == events_.front().thread) {
      events_.push_back(std::move(event));
    } else {
      one_thread_ = one_thread_ && event.site < 0;
    }
  }
  sums_.resize(events_.size());
  steps_.resize(events_.size());
  hooks_.resize(events_.size(), cost.inside);
  names_.reserve(events_.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const OpEvent& event = events_[i];
    names_.push_back(StepClock::hash(event.name.c_str()));
    while (!open.empty() && events_[open.back()].end <= event.begin) open.pop_back();
    for (const std::size_t outer : open) hooks_[outer] += event.slice ? cost.whole : cost.count;
    open.push_back(i);
    if (event.phase == Phase::forward) middle_ = i + 1;
  }
}

std::unique_ptr<Ticks> MeanEvents::room() const {
  std::vector<std::uint8_t> wanted;
  wanted.reserve(events_.size());
  for (const OpEvent& event : events_) wanted.push_back(event.slice ? 1 : 0);
  return std::make_unique<Ticks>(std::move(wanted));
}

std::pair<std::size_t, std::size_t> MeanEvents::range(Half half) const {
  return {half == Half::backward ? middle_ : 0, half == Half::forward ? middle_ : events_.size()};
}

double MeanEvents::cost() const {
  double seconds = 0;
  for (const OpEvent& event : events_) seconds += event.slice ? cost_.whole : cost_.count;
  return seconds;
}

bool MeanEvents::add(const Ticks& ticks, Half half) {
  const auto [begin, end] = range(half);
  if (!one_thread_ || ticks.count() != end || end > ticks.capacity()) return false;
  for (std::size_t i = begin; i < end; ++i) {
    if (events_[i].slice && ticks[i].name != names_[i]) return false;
  }
  for (std::size_t i = begin; i < end; ++i) {
    sums_[i] += static_cast<double>(ticks[i].end - ticks[i].begin) * 1e-9;
    ++steps_[i];
  }
  return true;
}

void MeanEvents::clear() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  std::fill(steps_.begin(), steps_.end(), 0);
}

std::vector<OpEvent> MeanEvents::events() const {
  std::vector<OpEvent> result = events_;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i].begin = 0;
    result[i].end = std::max(0.0, sums_[i] / std::max(1, steps_[i]) - hooks_[i]);
  }
  return result;
}

}  // namespace hot::profile
