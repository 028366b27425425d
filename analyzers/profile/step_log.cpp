#include "analyzers/profile/step_log.hpp"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

/// A slice under way, and what it has met inside.
struct Open {
  std::int64_t serial = 0;
  bool node = false;
  int site = -1;
  unsigned paths = 0;
  std::string module;
  std::int64_t bytes = 0;
  bool views = false;  ///< an input's storage is seen in the output
  std::vector<const void*> storages;
  double begin = 0;
  std::vector<Slice> products;  ///< that ended inside
};

/// What runs on this thread.
struct ThreadView {
  std::vector<Open> open;  ///< node, operation, product, from the outside in
  int skipped = 0;         ///< depth of operations that have no slice
  int pending_site = -2;   ///< told by the recorder for the operation that begins now; -2: nothing
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

/// What the end callback has to close.
struct Close : at::ObserverContext {
  bool slice = false;
};

/// The autograd engine's frame around a node, which is no operation.
bool is_engine(std::string_view name) {
  return name.starts_with("autograd::engine::");
}

/// What is no product inside a backward node belongs to the node.
void absorb(Slice& node, std::vector<Slice>& inside) {
  for (Slice& slice : inside) {
    if (slice.site >= 0) continue;
    node.own += slice.own;
    node.bytes += slice.bytes;
    slice.own = 0;
  }
}

}  // namespace

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
  }
  return "?";
}

struct StepLog::State : backward::Listener {
  State(const models::Model& m, bool d) : model(m), deep(d), start(Clock::now()) {}

  const models::Model& model;
  bool deep;
  Clock::time_point start;
  std::atomic<Phase> phase{Phase::forward};
  std::atomic<std::int64_t> serials{0};
  std::unique_ptr<backward::Recorder> recorder;
  mutable std::mutex mutex;
  std::vector<Slice> slices;
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

  void begin(const at::RecordFunction& fn, bool node);
  void look_at_inputs(const at::RecordFunction& fn, Open& open) const;
  void look_at_outputs(const at::RecordFunction& fn, Open& open) const;
  void end(const at::RecordFunction& fn);
  std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& fn);
  void leave(const at::RecordFunction& fn, const Close& close);
};

std::unique_ptr<at::ObserverContext> StepLog::State::enter(const at::RecordFunction& fn) {
  const bool node = fn.scope() == at::RecordScope::BACKWARD_FUNCTION;
  if (!node && is_engine(fn.name())) return nullptr;
  const bool product = view.pending_site != -2;
  const bool outermost = view.open.empty() || (view.open.size() == 1 && view.open[0].node);
  const bool inside_node = !view.open.empty();
  auto close = std::make_unique<Close>();
  if (node ? !inside_node : (product || outermost)) {
    close->slice = true;
    begin(fn, node);
  }
  return close;
}

void StepLog::State::begin(const at::RecordFunction& fn, bool node) {
  Open open;
  open.node = node;
  if (view.pending_site != -2) {
    open.site = view.pending_site;
    open.paths = view.pending_paths;
  } else if (node) {
    open.site = std::exchange(view.node_site, -1);
  }
  view.pending_site = -2;
  view.pending_paths = 0;
  if (deep) {
    if (node) {
      const std::lock_guard lock(mutex);
      const auto maker = makers.find({fn.forwardThreadId(), fn.seqNr()});
      if (maker != makers.end()) open.module = maker->second;
    } else if (view.open.empty()) {
      open.module = module_here();
      look_at_inputs(fn, open);
    } else if (view.open.size() == 1 && view.open[0].node) {
      look_at_inputs(fn, open);
    }
    if (!node && fn.seqNr() >= 0 && phase == Phase::forward) {
      std::string module = module_here();
      const std::lock_guard lock(mutex);
      makers[{at::RecordFunction::currentThreadId(), fn.seqNr()}] = std::move(module);
    }
    if (view.open.empty()) {
      view.serial = ++serials;
      view.op = fn.name();
      view.owner = open.module;
    }
    if (open.site >= 0) view.owner = recorder->sites()[static_cast<std::size_t>(open.site)].name;
  }
  open.begin = now();
  view.open.push_back(std::move(open));
}

void StepLog::State::look_at_inputs(const at::RecordFunction& fn, Open& open) const {
  for (const auto& value : backward::own_arguments(fn)) {
    if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().has_storage())
      continue;
    open.storages.push_back(value.toTensor().storage().unsafeGetStorageImpl());
    open.bytes += static_cast<std::int64_t>(value.toTensor().nbytes());
  }
}

void StepLog::State::look_at_outputs(const at::RecordFunction& fn, Open& open) const {
  const auto schema = fn.operator_schema();
  const auto& outputs = fn.outputs();
  if (!schema) return;
  const std::size_t wanted = schema->returns().size();
  const std::size_t first = outputs.size() > wanted ? outputs.size() - wanted : 0;
  bool views = outputs.size() > first;
  for (std::size_t i = first; i < outputs.size(); ++i) {
    const auto& value = outputs[i];
    if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().has_storage())
      continue;
    const void* storage = value.toTensor().storage().unsafeGetStorageImpl();
    const bool known =
        std::find(open.storages.begin(), open.storages.end(), storage) != open.storages.end();
    views = views && known;
    open.bytes += static_cast<std::int64_t>(value.toTensor().nbytes());
  }
  const std::string_view name = fn.name();
  if (views && !name.ends_with('_')) open.bytes = 0;
}

void StepLog::State::end(const at::RecordFunction& fn) {
  Open open = std::move(view.open.back());
  view.open.pop_back();
  Slice slice;
  slice.end = now();
  slice.begin = open.begin;
  slice.own = slice.end - slice.begin;
  slice.name = fn.name();
  slice.site = open.site;
  slice.module = std::move(open.module);
  slice.phase = phase;
  slice.node = open.node;
  slice.paths = open.paths;
  slice.thread = this_thread();
  if (deep && !open.node && !open.storages.empty()) look_at_outputs(fn, open);
  slice.bytes = open.bytes;

  double inside = 0;
  bool one_site = !open.products.empty();
  for (const Slice& p : open.products) {
    inside += p.end - p.begin;
    one_site = one_site && p.site == open.products.front().site && p.site >= 0;
  }
  if (!open.products.empty() && !open.node && one_site) {
    // A composite of one layer (aten::linear) belongs to it whole, with its bias and its views.
    slice.site = open.products.front().site;
    for (Slice& p : open.products) {
      slice.paths |= p.paths;
      p.own = 0;
    }
  } else {
    slice.own -= inside;
  }
  if (!view.open.empty()) {
    auto& outer = view.open.back();
    // An enclosing operation or node counts the time of this one as inside, once.
    if (!open.node && !open.products.empty() && slice.site < 0) {
      for (const Slice& p : open.products) outer.products.push_back(p);
      Slice rest = slice;
      rest.end = rest.begin + slice.own;
      outer.products.push_back(std::move(rest));
      return;
    }
    outer.products.push_back(std::move(slice));
    return;
  }
  if (open.node) absorb(slice, open.products);
  view.op.clear();
  view.owner.clear();
  view.serial = 0;
  const std::lock_guard lock(mutex);
  slices.push_back(std::move(slice));
  for (Slice& p : open.products) slices.push_back(std::move(p));
}

void StepLog::State::leave(const at::RecordFunction& fn, const Close& close) {
  if (close.slice && !view.open.empty()) end(fn);
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
    return state ? state->enter(fn) : nullptr;
  }
  static void leave(const at::RecordFunction& fn, at::ObserverContext* context) {
    if (context == nullptr) return;
    if (const auto state = running<StepLog::State>())
      state->leave(fn, *static_cast<Close*>(context));
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
  at::removeCallback(state_->operations);
  at::removeCallback(state_->nodes);
  const std::lock_guard lock(active_mutex);
  active.reset();
}

void StepLog::set_phase(Phase phase) {
  state_->phase = phase;
}

double StepLog::now() const {
  return state_->now();
}

void StepLog::rethrow() const {
  state_->recorder->rethrow();
}

const std::vector<Slice>& StepLog::slices() const {
  return state_->slices;
}

const std::vector<backward::Site>& StepLog::sites() const {
  return state_->recorder->sites();
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
