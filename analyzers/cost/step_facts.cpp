#include "analyzers/cost/step_facts.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzers/cost/kept_memory.hpp"
#include "backward/layer_book.hpp"
#include "backward/observe.hpp"
#include "core/interrupt.hpp"

namespace hot::cost {
namespace {

/// Size of the parameters' perturbation, relative to their root mean square: large beside float32
/// rounding, small beside the curvature.
constexpr double kStep = 1e-3;

/// Rows of a linear layer, or samples of a convolution, that the change of x is watched in.
constexpr std::int64_t kRows = 512;
constexpr std::int64_t kSamples = 2;

double squared_norm(const at::Tensor& t) {
  return t.square().sum(at::kDouble).item<double>();
}

/// The part of one call's input that is compared between the steps; owned.
at::Tensor watched_part(const backward::Operands& o) {
  if (o.window.convolution) {
    return o.x.narrow(0, 0, std::min(kSamples, o.x.size(0))).detach().clone();
  }
  const at::Tensor rows = o.x.reshape({-1, o.x.size(-1)});
  const std::int64_t step = std::max<std::int64_t>(1, rows.size(0) / kRows);
  return rows.slice(0, 0, rows.size(0), step).detach().clone();
}

/// The layer's output for this input alone, without the bias.
at::Tensor output_for(const backward::Operands& o, const at::Tensor& x) {
  const backward::Window& w = o.window;
  if (!w.convolution) return x.mm(backward::weight_matrix(o).t());
  return at::convolution(x, o.weight, {}, w.stride, w.padding, w.dilation, w.transposed,
                         w.output_padding, w.groups);
}

/// Adds white noise to all parameters while alive and puts them back bit by bit.
class Perturbed {
 public:
  Perturbed(const models::Model& model, std::uint64_t seed) : model_(model) {
    const at::NoGradGuard no_grad;
    double squares = 0;
    double count = 0;
    for (const auto& p : model.parameters) {
      if (!p.tensor.requires_grad()) continue;
      squares += squared_norm(p.tensor);
      count += static_cast<double>(p.tensor.numel());
    }
    size_ = count > 0 ? kStep * std::sqrt(squares / count) : 0;
    auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    for (const auto& p : model.parameters) {
      if (!p.tensor.requires_grad()) continue;
      saved_.push_back(p.tensor.detach().clone());
      p.tensor.detach().add_(at::randn(p.tensor.sizes(), generator).to(p.tensor.device()), size_);
    }
  }
  ~Perturbed() {
    const at::NoGradGuard no_grad;
    std::size_t next = 0;
    for (const auto& p : model_.parameters) {
      if (p.tensor.requires_grad()) p.tensor.detach().copy_(saved_[next++]);
    }
  }
  Perturbed(const Perturbed&) = delete;
  Perturbed& operator=(const Perturbed&) = delete;

  [[nodiscard]] double size() const { return size_; }

 private:
  const models::Model& model_;
  std::vector<at::Tensor> saved_;
  double size_ = 0;
};

/// Runs a step and shows the eligible layers' calls.
template <class Callback>
models::StepResult watched_step(const models::Model& model, const models::Batch& batch,
                                const models::Loss& loss, std::uint64_t seed, const Trace& trace,
                                const Callback& callback, const std::function<void()>& between) {
  std::set<std::string> eligible;
  for (const LayerTrace& layer : trace.layers) {
    if (layer.eligible) eligible.insert(layer.name);
  }
  const backward::Observation observation(model, [&](const backward::Operands& o) {
    throw_if_interrupted();
    if (eligible.contains(o.layer)) callback(o);
  });
  models::StepResult result;
  try {
    result = models::run_step(model, batch, loss, seed, between);
  } catch (...) {
    observation.rethrow();
    throw;
  }
  observation.rethrow();
  return result;
}

using CallKey = std::pair<std::string, int>;

class StepFacts {
 public:
  StepFacts(const models::Model& model, const models::Batch& batch, const models::Loss& loss,
            const Trace& trace, std::uint64_t seed, ErrorTable& table)
      : model_(model),
        batch_(batch),
        loss_(loss),
        trace_(trace),
        seed_(seed),
        table_(table),
        memory_(table) {}

  Geometries operator()() {
    exact_step();
    perturbed_step();
    memory_.write(table_);
    return std::move(geometries_);
  }

 private:
  void exact_step() {
    backward::SavedBytes saved(model_);
    const auto step = watched_step(
        model_, batch_, loss_, seed_, trace_,
        [&](const backward::Operands& o) {
          geometries_[o.layer].push_back(geometry_of(o));
          memory_.add(o);
          if (o.x.defined()) inputs_[{o.layer, o.call}] = watched_part(o);
        },
        [&] { memory_.snapshot(saved.storages()); });
    for (std::size_t i = 0; i < step.gradients.size(); ++i) {
      if (!step.gradients[i].defined()) continue;
      const double squared = squared_norm(step.gradients[i]);
      whole_ += squared;
      weights_[backward::layer_name_of_parameter(model_.parameters[i].names.front())] = squared;
    }
  }

  void perturbed_step() {
    const Perturbed perturbed(model_, seed_ + 1);
    std::map<std::string, double> response;  // Σ over calls of Σ_l‖y'_l‖²/(L‖W‖²ε²)
    (void)watched_step(
        model_, batch_, loss_, seed_, trace_,
        [&](const backward::Operands& o) {
          const auto before = inputs_.find({o.layer, o.call});
          if (before == inputs_.end() || !o.x.defined()) return;
          const at::Tensor change = watched_part(o).sub_(before->second);
          const at::Tensor output = output_for(o, change);
          const std::int64_t channels = o.window.convolution ? output.size(1) : output.size(-1);
          const double rows = static_cast<double>(output.numel()) / static_cast<double>(channels);
          response[o.layer] += squared_norm(output) / (rows * squared_norm(o.weight) *
                                                       perturbed.size() * perturbed.size());
        },
        nullptr);
    for (LayerFacts& facts : table_.facts) {
      if (whole_ <= 0) break;
      facts.metrics.set("weight_share", weights_[facts.layer] / whole_, Origin::measured);
      const Metric* norm = facts.metrics.find("input_norm");
      const auto found = response.find(facts.layer);
      const double calls = static_cast<double>(geometries_[facts.layer].size());
      if (norm == nullptr || found == response.end() || calls == 0) continue;
      facts.metrics.set("input_share", norm->value * norm->value / whole_ * found->second / calls,
                        Origin::modelled);
    }
  }

  const models::Model& model_;
  const models::Batch& batch_;
  const models::Loss& loss_;
  const Trace& trace_;
  std::uint64_t seed_;
  ErrorTable& table_;
  KeptMemory memory_;
  Geometries geometries_;
  std::map<CallKey, at::Tensor> inputs_;
  std::map<std::string, double> weights_;
  double whole_ = 0;
};

}  // namespace

Geometries add_step_facts(const models::Model& model, const models::Batch& batch,
                          const models::Loss& loss, const Trace& trace, std::uint64_t seed,
                          ErrorTable& table) {
  return StepFacts(model, batch, loss, trace, seed, table)();
}

}  // namespace hot::cost
