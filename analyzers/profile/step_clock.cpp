#include "analyzers/profile/step_clock.hpp"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <array>
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

/// Seconds of kProbes operations that do next to nothing, the fastest of several runs.
double probe(const std::function<void()>& before) {
  const at::NoGradGuard no_grad;
  const at::Tensor tensor = at::zeros({1});
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kProbeRuns; ++run) {
    before();
    const std::int64_t start = now();
    for (std::size_t i = 0; i < kProbes; ++i) static_cast<void>(tensor.detach());
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
    const std::size_t i = ticks->count_.fetch_add(1, std::memory_order_relaxed);
    const bool room = i < ticks->ticks_.size();
    if (running.depth < kDepth) running.ticks[running.depth] = room ? i : kNone;
    ++running.depth;
    if (room) ticks->ticks_[i] = {hash(fn.name()), now(), 0};
    return nullptr;
  }

  static void end(const at::RecordFunction&, at::ObserverContext*) {
    Ticks* ticks = active.load(std::memory_order_relaxed);
    if (ticks == nullptr || !running.watched || running.depth == 0) return;
    const std::int64_t time = now();
    if (--running.depth >= kDepth) return;
    if (const std::size_t i = running.ticks[running.depth]; i != kNone) ticks->ticks_[i].end = time;
  }

  static std::uint64_t add(at::RecordScope scope) {
    return at::addGlobalCallback(at::RecordFunctionCallback(begin, end).scopes({scope}));
  }
};

StepClock::StepClock(Ticks& ticks) {
  ticks.clear();
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
  Ticks ticks(kProbes);  // an operation that runs no other has one tick
  double inside = 0;
  double watched = 0;
  {
    const StepClock clock(ticks);
    watched = probe([&] { ticks.clear(); });
  }
  for (std::size_t i = 0; i < kProbes; ++i)
    inside += static_cast<double>(ticks[i].end - ticks[i].begin) * 1e-9;
  constexpr auto n = static_cast<double>(kProbes);
  HookCost cost;
  cost.whole = std::max(0.0, (watched - bare) / n);
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
  inner_.resize(events_.size());
  names_.reserve(events_.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    names_.push_back(StepClock::hash(events_[i].name.c_str()));
    while (!open.empty() && events_[open.back()].end <= events_[i].begin) open.pop_back();
    for (const std::size_t outer : open) ++inner_[outer];
    open.push_back(i);
  }
}

bool MeanEvents::add(const Ticks& ticks) {
  if (!one_thread_ || ticks.count() != events_.size() || ticks.count() > ticks.capacity())
    return false;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (ticks[i].name != names_[i]) return false;
  }
  for (std::size_t i = 0; i < names_.size(); ++i)
    sums_[i] += static_cast<double>(ticks[i].end - ticks[i].begin) * 1e-9;
  ++steps_;
  return true;
}

void MeanEvents::clear() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  steps_ = 0;
}

std::vector<OpEvent> MeanEvents::events() const {
  std::vector<OpEvent> result = events_;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double mean = sums_[i] / std::max(1, steps_);
    const double hooks = cost_.inside + cost_.whole * static_cast<double>(inner_[i]);
    result[i].begin = 0;
    result[i].end = std::max(0.0, mean - hooks);
  }
  return result;
}

}  // namespace hot::profile
