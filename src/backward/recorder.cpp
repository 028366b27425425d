#include "backward/recorder.hpp"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "backward/gemm_ops.hpp"
#include "backward/layer_book.hpp"
#include "backward/sites.hpp"
#include "device/scope.hpp"

namespace hot::backward {
namespace {

/// What runs on this thread at the moment.
struct ThreadView {
  const GemmOp* outermost = nullptr;  ///< composite that was entered first
  int products = 0;                   ///< depth of products: inner ones are part of the outer
  std::string owner;                  ///< site of the forward product
  int nodes = 0;                      ///< depth of backward nodes
  std::shared_ptr<Call> node;         ///< call of the running node, if known
  device::Span span;                  ///< of the running node
};

thread_local ThreadView view;

/// What the end callback has to undo.
struct Leave : at::ObserverContext {
  bool outermost = false;
  bool product = false;
  bool node = false;
  device::WorkScope scope;

  void opens(const std::string& layer, const char* path) {
    if (!device::work_is_watched()) return;
    std::destroy_at(&scope);
    std::construct_at(&scope, device::Work{layer, path, {}});
  }
};

bool any_needs_gradient(const GemmOp& op, c10::ArrayRef<const c10::IValue> a) {
  for (const int i : {op.a, op.b, op.c}) {
    if (i < 0 || static_cast<std::size_t>(i) >= a.size()) continue;
    const auto& value = a[static_cast<std::size_t>(i)];
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().requires_grad()) {
      return true;
    }
  }
  return false;
}

}  // namespace

struct Recorder::State {
  State(const models::Model& model, Listener& l, bool keeps)
      : listener(l), sites(model), keeps_x(keeps), clock(device::clock_of(model.device)) {}

  Listener& listener;
  Sites sites;
  bool keeps_x;
  device::Clock& clock;
  std::mutex mutex;
  std::exception_ptr failure;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::shared_ptr<Call>> open;
  at::CallbackHandle operations = 0;
  at::CallbackHandle nodes = 0;

  void enter_product(const at::RecordFunction& fn, const GemmOp& op);
  /// The path of the products that the operation is, "backward" for several; nullptr for none.
  const char* enter_backward_product(const at::RecordFunction& fn);
  void enter_node(const at::RecordFunction& fn);
  void leave_node();
  [[nodiscard]] static Path path_of(const Call* call, c10::ArrayRef<const c10::IValue> a,
                                    bool first);
  void leave(const Leave& leave);

  /// Exceptions can't leave a callback: the first is kept, and nothing more is told.
  template <class Body>
  void guarded(Body&& body) {
    const std::lock_guard lock(mutex);
    if (failure) return;
    try {
      at::DisableRecordFunctionGuard quiet;
      at::NoGradGuard no_grad;
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }

  std::unique_ptr<at::ObserverContext> enter_operation(const at::RecordFunction& fn);
};

void Recorder::State::enter_product(const at::RecordFunction& fn, const GemmOp& op) {
  guarded([&] {
    const auto arguments = own_arguments(fn);
    const bool linked = fn.seqNr() >= 0 && any_needs_gradient(op, arguments);
    auto call =
        std::make_shared<Call>(sites.call(op, view.outermost ? *view.outermost : op, arguments));
    if (!linked) {
      call->operands.need_grad_input = call->operands.need_grad_weight = false;
      call->operands.x = at::Tensor();
    }
    view.owner = sites.all()[call->site].name;
    listener.on_forward(*call, forward_shapes(op, arguments));
    if (!keeps_x) call->operands.x = at::Tensor();
    if (linked) open[{at::RecordFunction::currentThreadId(), fn.seqNr()}] = std::move(call);
  });
}

/// A product of the backward pass belongs to the gradient of the factor that it doesn't contain.
Path Recorder::State::path_of(const Call* call, c10::ArrayRef<const c10::IValue> a, bool first) {
  if (call == nullptr) return Path::grad_input;
  bool has_a = false;
  bool has_b = false;
  for (const auto& value : a) {
    if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().has_storage())
      continue;
    const auto* storage = value.toTensor().storage().unsafeGetStorageImpl();
    has_a = has_a || storage == call->a;
    has_b = has_b || storage == call->b;
  }
  if (has_a != has_b) return has_b ? Path::grad_input : Path::grad_weight;
  return first && call->operands.need_grad_input ? Path::grad_input : Path::grad_weight;
}

const char* Recorder::State::enter_backward_product(const at::RecordFunction& fn) {
  const std::string_view name = fn.name();
  const bool candidate = name.ends_with("mm") || name.ends_with("_backward");
  if (!candidate) return nullptr;
  const char* found = nullptr;
  guarded([&] {
    const auto arguments = own_arguments(fn);
    const bool first = !view.node || view.node->gemms_seen++ == 0;
    for (const auto& gemm : backward_gemms(name, arguments)) {
      const Path path = gemm.path ? *gemm.path : path_of(view.node.get(), arguments, first);
      found = found == nullptr || found == to_string(path) ? to_string(path) : "backward";
      listener.on_gemm(view.node.get(), path, gemm.shape);
    }
  });
  return found;
}

std::unique_ptr<at::ObserverContext> Recorder::State::enter_operation(
    const at::RecordFunction& fn) {
  if (view.products > 0) return nullptr;
  if (view.nodes > 0) {
    const char* path = enter_backward_product(fn);
    if (path == nullptr) return nullptr;
    auto leave = std::make_unique<Leave>();
    leave->product = true;
    leave->opens({}, path);
    ++view.products;
    return leave;
  }
  const auto* op = find_gemm_op(fn.name());
  if (op == nullptr) return nullptr;
  auto leave = std::make_unique<Leave>();
  if (op->role == Role::composite) {
    leave->outermost = view.outermost == nullptr;
    if (leave->outermost) view.outermost = op;
  } else {
    leave->product = true;
    ++view.products;
    enter_product(fn, *op);
    leave->opens(view.owner, to_string(Path::forward));
  }
  return leave;
}

void Recorder::State::enter_node(const at::RecordFunction& fn) {
  if (view.nodes++ > 0) return;
  guarded([&] {
    const auto found = open.find({fn.forwardThreadId(), fn.seqNr()});
    if (found == open.end()) return;
    view.node = std::move(found->second);
    open.erase(found);
    const auto inputs = fn.inputs();
    if (!inputs.empty() && inputs[0].isTensor()) view.node->operands.gy = inputs[0].toTensor();
    if (view.node->operands.gy.defined()) listener.on_backward(*view.node);
  });
  view.span = device::Span(clock);
}

void Recorder::State::leave_node() {
  if (--view.nodes > 0) return;
  view.span.end();
  if (view.node) {
    guarded([&] { listener.on_backward_done(*view.node, view.span); });
  }
  view.span = {};
  view.node.reset();
}

void Recorder::State::leave(const Leave& leave) {
  if (leave.outermost) view.outermost = nullptr;
  if (leave.product) {
    --view.products;
    view.owner.clear();
  }
  if (leave.node) leave_node();
}

namespace {

// RecordFunction takes plain function pointers; the running recorder's state is found here.
std::mutex active_mutex;
std::shared_ptr<void> active;

}  // namespace

namespace {

template <class State>
std::shared_ptr<State> running() {
  const std::lock_guard lock(active_mutex);
  return std::static_pointer_cast<State>(active);
}

}  // namespace

struct RecorderCallbacks {
  using State = Recorder::State;

  static std::unique_ptr<at::ObserverContext> operation(const at::RecordFunction& fn) {
    const auto state = running<State>();
    return state ? state->enter_operation(fn) : nullptr;
  }

  static std::unique_ptr<at::ObserverContext> node(const at::RecordFunction& fn) {
    const auto state = running<State>();
    if (!state) return nullptr;
    auto leave = std::make_unique<Leave>();
    state->enter_node(fn);
    if (view.nodes == 1) leave->opens(view.node ? view.node->operands.layer : "", "backward");
    leave->node = true;
    return leave;
  }

  static void done(const at::RecordFunction&, at::ObserverContext* context) {
    if (context == nullptr) return;
    if (const auto state = running<State>()) state->leave(*static_cast<Leave*>(context));
  }
};

Recorder::Recorder(const models::Model& model, Listener& listener, bool keeps_x)
    : state_(std::make_shared<State>(model, listener, keeps_x)) {
  {
    const std::lock_guard lock(active_mutex);
    if (active) throw std::logic_error("two recorders at a time");
    active = state_;
  }
  view = {};
  state_->operations = at::addGlobalCallback(
      at::RecordFunctionCallback(RecorderCallbacks::operation, RecorderCallbacks::done)
          .needsInputs(true)
          .scopes({at::RecordScope::FUNCTION}));
  state_->nodes = at::addGlobalCallback(
      at::RecordFunctionCallback(RecorderCallbacks::node, RecorderCallbacks::done)
          .needsInputs(true)
          .scopes({at::RecordScope::BACKWARD_FUNCTION}));
}

Recorder::~Recorder() {
  at::removeCallback(state_->operations);
  at::removeCallback(state_->nodes);
  const std::lock_guard lock(active_mutex);
  active.reset();
}

const std::vector<Site>& Recorder::sites() const {
  return state_->sites.all();
}

void Recorder::rethrow() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->failure) std::rethrow_exception(state_->failure);
}

std::string Recorder::current_owner() {
  return view.owner.empty() ? fmt::format("{}", fmt::join(current_modules(), ".")) : view.owner;
}

}  // namespace hot::backward
