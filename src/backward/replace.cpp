#include "backward/replace.hpp"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <atomic>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "backward/layer_book.hpp"
#include "backward/replaced_functions.hpp"
#include "core/rounding_seed.hpp"

namespace hot::backward {
namespace {

/// Torch's own kernel of an operation, fetched before another is registered in its place.
struct Original {
  Original(const char* name, c10::DispatchKey key)
      : op(c10::Dispatcher::singleton().findSchemaOrThrow(name, "")),
        kernel(op.getComputedKernelForDispatchKey(key).kernelFunction()) {}

  template <class R, class... Args>
  R call(c10::DispatchKeySet keys, Args... args) const {
    return kernel.template call<R, Args...>(op, keys, std::forward<Args>(args)...);
  }

  c10::OperatorHandle op;
  c10::KernelFunction kernel;
};

/// Where a device's operations meet autograd.
c10::DispatchKey key_of(at::Device device) {
  return device.is_cpu() ? c10::DispatchKey::AutogradCPU : c10::DispatchKey::AutogradCUDA;
}

bool is_float_matrix(const at::Tensor& t) {
  return t.dim() == 2 && t.scalar_type() == at::kFloat;
}

std::vector<std::int64_t> concrete(c10::SymIntArrayRef values, std::size_t n) {
  std::vector<std::int64_t> result;
  for (const auto& v : values) result.push_back(v.expect_int());
  if (result.size() == 1) result.assign(n, result[0]);
  return result;
}

Window window_of(const at::Tensor& weight, c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                 c10::SymIntArrayRef dilation, bool transposed, c10::SymIntArrayRef output_padding,
                 const c10::SymInt& groups) {
  Window w;
  w.convolution = true;
  w.transposed = transposed;
  w.kernel.assign(weight.sizes().begin() + 2, weight.sizes().end());
  w.stride = concrete(stride, w.kernel.size());
  w.padding = concrete(padding, w.kernel.size());
  w.dilation = concrete(dilation, w.kernel.size());
  w.output_padding = concrete(output_padding, w.kernel.size());
  w.groups = groups.expect_int();
  return w;
}

}  // namespace

struct Replacement::State {
  explicit State(const models::Model& model) : book(model), key(key_of(model.device)) {}

  LayerBook book;
  c10::DispatchKey key;
  std::map<std::string, std::shared_ptr<ReplacedLayer>> by_name;
  std::unordered_map<int, std::shared_ptr<ReplacedLayer>> by_parameter;
  Original mm{"aten::mm", key};
  Original addmm{"aten::addmm", key};
  Original convolution{"aten::convolution", key};
  Original convolution_jit{"aten::_convolution", key};
  std::unique_ptr<torch::Library> library;
  std::atomic<bool> paused{false};

  /// The planned layer that `weight` belongs to; nullptr for none, and while no gradient is
  /// recorded.
  [[nodiscard]] std::shared_ptr<ReplacedLayer> layer_of(const at::Tensor& weight) const {
    if (paused || !at::GradMode::is_enabled()) return nullptr;
    const int parameter = book.parameter_of(weight);
    if (parameter < 0) return nullptr;
    const auto found = by_parameter.find(parameter);
    return found == by_parameter.end() ? nullptr : found->second;
  }
};

namespace {

std::atomic<Replacement::State*> active{nullptr};

at::Tensor mm(c10::DispatchKeySet keys, const at::Tensor& a, const at::Tensor& b) {
  const auto* state = active.load();
  const auto layer = is_float_matrix(a) && is_float_matrix(b) ? state->layer_of(b) : nullptr;
  if (layer) return replaced_matmul(layer, {}, a, b);
  return state->mm.call<at::Tensor, const at::Tensor&, const at::Tensor&>(keys, a, b);
}

at::Tensor addmm(c10::DispatchKeySet keys, const at::Tensor& bias, const at::Tensor& a,
                 const at::Tensor& b, const at::Scalar& beta, const at::Scalar& alpha) {
  const auto* state = active.load();
  const bool plain = beta.toDouble() == 1 && alpha.toDouble() == 1;
  const auto layer =
      plain && is_float_matrix(a) && is_float_matrix(b) ? state->layer_of(b) : nullptr;
  if (layer) return replaced_matmul(layer, bias, a, b);
  return state->addmm.call<at::Tensor, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                           const at::Scalar&, const at::Scalar&>(keys, bias, a, b, beta, alpha);
}

/// The convolution with its planned backward, or nothing where no plan changes this layer.
std::optional<at::Tensor> planned_convolution(
    const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
    c10::SymIntArrayRef stride, c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation,
    bool transposed, c10::SymIntArrayRef output_padding, const c10::SymInt& groups) {
  if (weight.scalar_type() != at::kFloat || groups != 1) return std::nullopt;
  const auto layer = active.load()->layer_of(weight);
  if (!layer) return std::nullopt;
  return replaced_convolution(
      layer, x, weight, bias.value_or(at::Tensor()),
      window_of(weight, stride, padding, dilation, transposed, output_padding, groups));
}

at::Tensor convolution(c10::DispatchKeySet keys, const at::Tensor& x, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, c10::SymIntArrayRef stride,
                       c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation, bool transposed,
                       c10::SymIntArrayRef output_padding, c10::SymInt groups) {
  const auto planned = planned_convolution(x, weight, bias, stride, padding, dilation, transposed,
                                           output_padding, groups);
  if (planned) return *planned;
  return active.load()
      ->convolution.call<at::Tensor, const at::Tensor&, const at::Tensor&,
                         const std::optional<at::Tensor>&, c10::SymIntArrayRef, c10::SymIntArrayRef,
                         c10::SymIntArrayRef, bool, c10::SymIntArrayRef, c10::SymInt>(
          keys, x, weight, bias, stride, padding, dilation, transposed, output_padding,
          std::move(groups));
}

at::Tensor convolution_jit(c10::DispatchKeySet keys, const at::Tensor& x, const at::Tensor& weight,
                           const std::optional<at::Tensor>& bias, c10::SymIntArrayRef stride,
                           c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation,
                           bool transposed, c10::SymIntArrayRef output_padding, c10::SymInt groups,
                           bool benchmark, bool deterministic, bool cudnn, bool allow_tf32) {
  const auto planned = planned_convolution(x, weight, bias, stride, padding, dilation, transposed,
                                           output_padding, groups);
  if (planned) return *planned;
  return active.load()
      ->convolution_jit
      .call<at::Tensor, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
            c10::SymIntArrayRef, c10::SymIntArrayRef, c10::SymIntArrayRef, bool,
            c10::SymIntArrayRef, c10::SymInt, bool, bool, bool, bool>(
          keys, x, weight, bias, stride, padding, dilation, transposed, output_padding,
          std::move(groups), benchmark, deterministic, cudnn, allow_tf32);
}

}  // namespace

Replacement::Replacement(const models::Model& model,
                         const std::map<std::string, LayerSchemes>& layers, std::uint64_t seed,
                         bool check)
    : state_(std::make_shared<State>(model)) {
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const auto planned = layers.find(state_->book.layer_name(static_cast<int>(i)));
    if (planned == layers.end()) continue;
    auto layer =
        std::make_shared<ReplacedLayer>(planned->second, layer_seed(seed, planned->first), check);
    state_->by_name.emplace(planned->first, layer);
    state_->by_parameter.emplace(static_cast<int>(i), std::move(layer));
  }
  State* none = nullptr;
  if (!active.compare_exchange_strong(none, state_.get())) {
    throw std::logic_error("two replacements at a time");
  }
  state_->library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten", state_->key,
                                                     __FILE__, __LINE__);
  state_->library->impl("mm", mm);
  state_->library->impl("addmm", addmm);
  state_->library->impl("convolution", convolution);
  state_->library->impl("_convolution", convolution_jit);
}

Replacement::~Replacement() {
  state_->library.reset();
  active = nullptr;
}

void Replacement::pause(bool paused) {
  state_->paused = paused;
}

std::map<std::string, LayerRuns> Replacement::runs() const {
  std::map<std::string, LayerRuns> result;
  for (const auto& [name, layer] : state_->by_name) result.emplace(name, layer->runs());
  return result;
}

}  // namespace hot::backward
