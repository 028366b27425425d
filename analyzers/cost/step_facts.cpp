#include "analyzers/cost/step_facts.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "analyzers/cost/kept_memory.hpp"
#include "analyzers/cost/perturbed.hpp"
#include "backward/layer_book.hpp"
#include "backward/recorder.hpp"
#include "backward/saved_bytes.hpp"
#include "core/interrupt.hpp"

namespace hot::cost {
namespace {

/// Rows of a linear layer, or samples of a convolution, that the change of x is watched in.
constexpr std::int64_t kRows = 512;
constexpr std::int64_t kSamples = 1;

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

using CallKey = std::pair<std::string, int>;

/// How much the output of each layer changes where its input alone does, in a perturbed forward
/// pass: Σ over calls of Σ_l‖y'_l‖²/(L‖W‖²ε²).
class Response : public backward::Listener {
 public:
  Response(const std::map<CallKey, at::Tensor>& before, double size)
      : before_(before), size_(size) {}

  void on_forward(const backward::Call& call, const std::vector<GemmShape>&) override {
    throw_if_interrupted();
    const backward::Operands& o = call.operands;
    const auto before = before_.find({o.layer, call.index});
    if (before == before_.end() || !o.x.defined()) return;
    const at::Tensor change = watched_part(o).sub_(before->second);
    const at::Tensor output = output_for(o, change);
    const std::int64_t channels = o.window.convolution ? output.size(1) : output.size(-1);
    const double rows = static_cast<double>(output.numel()) / static_cast<double>(channels);
    by_layer[o.layer] += squared_norm(output) / (rows * squared_norm(o.weight) * size_ * size_);
  }

  std::map<std::string, double> by_layer;

 private:
  const std::map<CallKey, at::Tensor>& before_;
  double size_;
};

}  // namespace

struct StepFacts::State {
  State(const models::Model& m, const Trace& trace, const std::vector<Scheme>& kept,
        std::int64_t samples)
      : model(m), memory(kept, samples), saved(std::in_place, m) {
    for (const LayerTrace& layer : trace.layers) {
      if (layer.eligible) eligible.insert(layer.name);
    }
  }

  const models::Model& model;
  std::set<std::string> eligible;
  KeptMemory memory;
  std::optional<backward::SavedBytes> saved;
  Geometries geometries;
  std::map<CallKey, at::Tensor> inputs;
  std::map<std::string, double> weights;
  double whole = 0;

  void write(const std::map<std::string, double>& response, ErrorTable& table) {
    for (LayerFacts& facts : table.facts) {
      if (whole <= 0) break;
      facts.metrics.set("weight_share", weights[facts.layer] / whole, Origin::measured);
      const Metric* norm = facts.metrics.find("input_norm");
      const auto found = response.find(facts.layer);
      const double calls = static_cast<double>(geometries[facts.layer].size());
      if (norm == nullptr || found == response.end() || calls == 0) continue;
      facts.metrics.set("input_share", norm->value * norm->value / whole * found->second / calls,
                        Origin::modelled);
    }
    for (ErrorRow& row : table.rows) {
      const bool input = row.path == Path::grad_input;
      const Metric* share = table.fact(row.layer, input ? "input_share" : "weight_share");
      const Metric* error = row.metrics.find("relative_error");
      if (share == nullptr || error == nullptr) continue;
      row.metrics.set("propagated_error", std::sqrt(share->value) * error->value, share->origin);
    }
  }
};

StepFacts::StepFacts(const models::Model& model, const Trace& trace,
                     const std::vector<Scheme>& kept, std::int64_t samples)
    : state_(std::make_unique<State>(model, trace, kept, samples)) {}

StepFacts::~StepFacts() = default;

void StepFacts::between() {
  state_->memory.snapshot(state_->saved->storages());
}

void StepFacts::add(const backward::Operands& o) {
  if (!state_->eligible.contains(o.layer)) return;
  state_->geometries[o.layer].push_back(geometry_of(o));
  state_->memory.add(o);
  if (o.x.defined() && o.need_grad_input) state_->inputs[{o.layer, o.call}] = watched_part(o);
}

void StepFacts::end(const models::StepResult& step) {
  state_->saved.reset();
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    if (!step.gradients[i].defined()) continue;
    const double squared = squared_norm(step.gradients[i]);
    state_->whole += squared;
    const std::string& name = state_->model.parameters[i].names.front();
    state_->weights[backward::layer_name_of_parameter(name)] = squared;
  }
}

Geometries StepFacts::finish(const models::Batch& batch, const models::Loss& loss,
                             std::uint64_t seed, ErrorTable& table) {
  const Perturbed perturbed(state_->model, seed + 1);
  Response response(state_->inputs, perturbed.size());
  {
    const backward::Recorder recorder(state_->model, response);
    models::run_forward(state_->model, batch, loss, seed);
    recorder.rethrow();
  }
  state_->inputs.clear();
  state_->write(response.by_layer, table);
  state_->memory.write(table);
  return std::move(state_->geometries);
}

}  // namespace hot::cost
