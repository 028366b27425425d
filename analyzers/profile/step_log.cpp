#include "analyzers/profile/step_log.hpp"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "backward/gemm_ops.hpp"
#include "backward/layer_book.hpp"
#include "device/choose.hpp"

namespace hot::profile {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t product(at::IntArrayRef sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return n;
}

/// An event under way on this thread.
struct Open {
  std::size_t event = 0;  ///< index into the log's events
  bool slice = false;
  bool node = false;
  std::vector<const void*> storages;  ///< of the inputs; deep logs alone
};

/// What runs on this thread.
struct ThreadView {
  std::vector<Open> open;   ///< from the outside in
  int slices = 0;           ///< of them, those that have a time of their own
  bool outer_node = false;  ///< the outermost slice is a backward node
  int pending_site = -2;    ///< told by the recorder for the operation that begins now; -2: nothing
  unsigned pending_paths = 0;
  int node_site = -1;
  std::string op, owner;
  std::int64_t serial = 0;
};

thread_local ThreadView view;
std::atomic<int> threads{0};
thread_local int thread_number = -1;

int this_thread() {
  if (thread_number < 0) thread_number = threads++;
  return thread_number;
}

/// Marks what the end callback has to close.
struct Close : at::ObserverContext {};

/// The autograd engine's frame around a node, which is no operation.
bool is_engine(std::string_view name) {
  return name.starts_with("autograd::engine::");
}

}  // namespace

struct StepLog::State : backward::Listener {
  State(const models::Model& m, bool d) : model(m), deep(d), start(Clock::now()) {}

  const models::Model& model;
  bool deep;
  Clock::time_point start;
  std::atomic<Phase> phase{Phase::forward};
  std::atomic<std::int64_t> serials{0};
  std::unique_ptr<backward::Recorder> recorder;
  mutable std::mutex mutex;
  std::vector<OpEvent> events;
  std::vector<backward::Site> sites;  ///< once the recorder is gone
  std::exception_ptr failure;         ///< likewise
  std::vector<std::int64_t> site_bytes;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::string> makers;  ///< module of a node
  std::map<std::string, std::string> paths;  ///< of modules, by the names that the interpreter has
  at::CallbackHandle operations = 0;
  at::CallbackHandle nodes = 0;

  [[nodiscard]] double now() const {
    device::synchronize(model.device);  // so that an interval holds what the GPU did in it
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  void on_forward(const backward::Call& call, const std::vector<GemmShape>& shapes) override {
    view.pending_site = static_cast<int>(call.site);
    view.pending_paths = 1U << static_cast<unsigned>(Path::forward);
    const auto& weight = call.operands.weight;
    std::int64_t n = product(call.operands.x_sizes) + (weight.defined() ? weight.numel() : 0);
    if (!shapes.empty()) n += shapes.back().m * shapes.back().n * shapes.back().batch;
    const std::int64_t size =
        weight.defined() ? static_cast<std::int64_t>(weight.element_size()) : 4;
    const std::lock_guard lock(mutex);
    if (call.site >= site_bytes.size()) site_bytes.resize(call.site + 1);
    site_bytes[call.site] += n * size;
  }
  void on_backward(const backward::Call& call) override {
    view.node_site = static_cast<int>(call.site);
  }
  void on_gemm(const backward::Call* call, Path path, const GemmShape&) override {
    view.pending_site = call == nullptr ? -1 : static_cast<int>(call->site);
    view.pending_paths |= 1U << static_cast<unsigned>(path);
  }

  /// Path of the module that runs, functions that it calls left out.
  [[nodiscard]] std::string module_here() {
    std::vector<std::string> parts = backward::current_modules();
    std::erase_if(parts, [](const std::string& part) { return part.starts_with("::"); });
    const std::lock_guard lock(mutex);
    auto& path = paths[fmt::format("{}", fmt::join(parts, "."))];
    if (path.empty() && !parts.empty()) path = backward::full_path(model.module, parts);
    return path;
  }

  void attribute(const at::RecordFunction& fn, OpEvent& event, Open& open);
  static std::int64_t look_at_inputs(const at::RecordFunction& fn, Open& open);
  static std::int64_t look_at_outputs(const at::RecordFunction& fn, const Open& open);
  void enter(const at::RecordFunction& fn);
  void leave(const at::RecordFunction& fn);
};

void StepLog::State::enter(const at::RecordFunction& fn) {
  OpEvent event;
  Open open;
  event.name = fn.name();
  event.node = open.node = fn.scope() == at::RecordScope::BACKWARD_FUNCTION;
  event.depth = view.slices;
  event.thread = this_thread();
  event.phase = phase;
  if (event.node || !is_engine(event.name)) {
    const bool product = view.pending_site != -2;
    const bool outermost = view.slices == 0 || (view.slices == 1 && view.outer_node);
    event.slice = open.slice = event.node ? view.slices == 0 : (product || outermost);
  }
  if (event.slice) attribute(fn, event, open);
  {
    const std::lock_guard lock(mutex);
    open.event = events.size();
    event.begin = now();
    events.push_back(std::move(event));
  }
  view.open.push_back(std::move(open));
}

void StepLog::State::attribute(const at::RecordFunction& fn, OpEvent& event, Open& open) {
  if (view.pending_site != -2) {
    event.site = view.pending_site;
    event.paths = view.pending_paths;
  } else if (event.node) {
    event.site = std::exchange(view.node_site, -1);
  }
  view.pending_site = -2;
  view.pending_paths = 0;
  const bool outermost = view.slices++ == 0;
  const bool in_node = !outermost && view.outer_node && view.slices == 2;
  if (outermost) view.outer_node = event.node;
  if (!deep) return;
  if (event.node) {
    const std::lock_guard lock(mutex);
    const auto maker = makers.find({fn.forwardThreadId(), fn.seqNr()});
    if (maker != makers.end()) event.module = maker->second;
  } else {
    if (outermost) event.module = module_here();
    if (outermost || in_node) event.bytes = look_at_inputs(fn, open);
    if (fn.seqNr() >= 0 && phase == Phase::forward) {
      std::string module = module_here();
      const std::lock_guard lock(mutex);
      makers[{at::RecordFunction::currentThreadId(), fn.seqNr()}] = std::move(module);
    }
  }
  if (outermost) {
    view.serial = ++serials;
    view.op = readable_name(event.name, event.node);
    view.owner = event.module;
  }
  if (event.site >= 0) view.owner = recorder->sites()[static_cast<std::size_t>(event.site)].name;
}

std::int64_t StepLog::State::look_at_inputs(const at::RecordFunction& fn, Open& open) {
  std::int64_t bytes = 0;
  for (const auto& value : backward::own_arguments(fn)) {
    if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().has_storage())
      continue;
    open.storages.push_back(value.toTensor().storage().unsafeGetStorageImpl());
    bytes += static_cast<std::int64_t>(value.toTensor().nbytes());
  }
  return bytes;
}

/// Bytes of the outputs; less than nothing where they are views of the inputs.
std::int64_t StepLog::State::look_at_outputs(const at::RecordFunction& fn, const Open& open) {
  const auto schema = fn.operator_schema();
  const auto& outputs = fn.outputs();
  if (!schema) return 0;
  const std::size_t wanted = schema->returns().size();
  const std::size_t first = outputs.size() > wanted ? outputs.size() - wanted : 0;
  bool views = outputs.size() > first;
  std::int64_t bytes = 0;
  for (std::size_t i = first; i < outputs.size(); ++i) {
    const auto& value = outputs[i];
    if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().has_storage())
      continue;
    const void* storage = value.toTensor().storage().unsafeGetStorageImpl();
    const bool known =
        std::find(open.storages.begin(), open.storages.end(), storage) != open.storages.end();
    views = views && known;
    bytes += static_cast<std::int64_t>(value.toTensor().nbytes());
  }
  const std::string_view name = fn.name();
  return views && !name.ends_with('_') ? -1 : bytes;
}

void StepLog::State::leave(const at::RecordFunction& fn) {
  if (view.open.empty()) return;
  const double end = now();
  const Open open = std::move(view.open.back());
  view.open.pop_back();
  const std::int64_t out =
      deep && !open.node && !open.storages.empty() ? look_at_outputs(fn, open) : 0;
  {
    const std::lock_guard lock(mutex);
    OpEvent& event = events[open.event];
    event.end = end;
    event.bytes = out < 0 ? 0 : event.bytes + out;
  }
  if (!open.slice || --view.slices > 0) return;
  view.op.clear();
  view.owner.clear();
  view.serial = 0;
}

namespace {

std::mutex active_mutex;
std::shared_ptr<void> active;

template <class State>
std::shared_ptr<State> running() {
  const std::lock_guard lock(active_mutex);
  return std::static_pointer_cast<State>(active);
}

}  // namespace

/// RecordFunction takes plain function pointers; the running log is found through `active`.
struct StepLogCallbacks {
  static std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& fn) {
    const auto state = running<StepLog::State>();
    if (!state) return nullptr;
    state->enter(fn);
    return std::make_unique<Close>();
  }
  static void leave(const at::RecordFunction& fn, at::ObserverContext* context) {
    if (context == nullptr) return;
    if (const auto state = running<StepLog::State>()) state->leave(fn);
  }
  static at::CallbackHandle add(at::RecordScope scope, bool deep) {
    return at::addGlobalCallback(at::RecordFunctionCallback(enter, leave)
                                     .needsInputs(deep)
                                     .needsOutputs(deep)
                                     .scopes({scope}));
  }
};

StepLog::StepLog(const models::Model& model, bool deep)
    : state_(std::make_shared<State>(model, deep)) {
  view = {};
  // The recorder's callbacks come first: it says which layer an operation is before ours runs.
  state_->recorder = std::make_unique<backward::Recorder>(model, *state_, false);
  {
    const std::lock_guard lock(active_mutex);
    active = state_;
  }
  state_->operations = StepLogCallbacks::add(at::RecordScope::FUNCTION, deep);
  state_->nodes = StepLogCallbacks::add(at::RecordScope::BACKWARD_FUNCTION, deep);
}

StepLog::~StepLog() {
  stop();
}

void StepLog::stop() {
  if (!state_->recorder) return;
  at::removeCallback(state_->operations);
  at::removeCallback(state_->nodes);
  {
    const std::lock_guard lock(active_mutex);
    active.reset();
  }
  state_->sites = state_->recorder->sites();
  try {
    state_->recorder->rethrow();
  } catch (...) {
    state_->failure = std::current_exception();
  }
  state_->recorder.reset();
}

void StepLog::set_phase(Phase phase) {
  state_->phase = phase;
}

double StepLog::now() const {
  return state_->now();
}

void StepLog::rethrow() const {
  if (state_->recorder) return state_->recorder->rethrow();
  if (state_->failure) std::rethrow_exception(state_->failure);
}

const std::vector<OpEvent>& StepLog::events() const {
  return state_->events;
}

const std::vector<backward::Site>& StepLog::sites() const {
  return state_->recorder ? state_->recorder->sites() : state_->sites;
}

const std::vector<std::int64_t>& StepLog::site_bytes() const {
  return state_->site_bytes;
}

Here StepLog::here() {
  Here here{view.op, view.owner, view.serial, Phase::forward};
  if (const auto state = running<State>()) here.phase = state->phase;
  return here;
}

}  // namespace hot::profile
