#include "analyzers/trace/findings.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hot::trace {
namespace {

bool is_sparse(const at::Tensor& gradient) {
  return gradient.defined() && gradient.layout() != at::kStrided;
}

bool is_zero(const at::Tensor& t) {
  return t.defined() && t.layout() == at::kStrided && t.numel() > 0 && !t.any().item<bool>();
}

const at::Tensor& gradient_of(const backward::Site& site,
                              const std::vector<at::Tensor>& gradients) {
  static const at::Tensor none;
  const auto i = static_cast<std::size_t>(site.parameter);
  return site.parameter >= 0 && i < gradients.size() ? gradients[i] : none;
}

std::string without_gradient(const backward::Site& site, const models::Model& model) {
  const bool frozen =
      site.parameter >= 0 &&
      !model.parameters[static_cast<std::size_t>(site.parameter)].tensor.requires_grad();
  return frozen ? "its weight is frozen and nothing below it needs a gradient"
                : "the loss doesn't reach it: no gradient arrives";
}

/// Weights of layers that are all zero; where there are none, scales (of a normalization, say).
std::vector<std::string> zero_parameters(const std::vector<backward::Site>& sites,
                                         const models::Model& model) {
  std::vector<std::string> weights;
  for (const auto& site : sites) {
    if (site.parameter < 0) continue;
    const auto& p = model.parameters[static_cast<std::size_t>(site.parameter)];
    if (is_zero(p.tensor)) weights.push_back(p.names.front());
  }
  if (!weights.empty()) return weights;
  std::vector<std::string> scales;
  for (const auto& p : model.parameters) {
    const bool bias = p.names.front().find("bias") != std::string::npos;
    if (!bias && is_zero(p.tensor)) scales.push_back(p.names.front());
  }
  return scales;
}

std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 3;
  const std::vector<std::string> head(names.begin(), names.begin() + std::min(shown, names.size()));
  return fmt::format("{}{}", fmt::join(head, ", "), names.size() > shown ? ", …" : "");
}

}  // namespace

void judge(LayerTrace& layer, const backward::Site& site, const StepWatcher::SiteWork& work,
           const models::Model& model, const std::vector<at::Tensor>& gradients) {
  const auto& gradient = gradient_of(site, gradients);
  if (layer.reason.empty()) {
    if (!work.gradient_seen) {
      layer.reason = without_gradient(site, model);
    } else if (!work.gradient_nonzero) {
      layer.reason = "its gradient is exactly zero";
    }
  }
  layer.eligible = layer.reason.empty();
  if (!layer.aliases.empty()) {
    layer.notes.push_back(fmt::format("shares its weight with {}", fmt::join(layer.aliases, ", ")));
  }
  if (layer.calls > 1) layer.notes.push_back(fmt::format("called {} times in a step", layer.calls));
  if (is_sparse(gradient)) layer.notes.push_back("its weight has a sparse gradient");
  if (!work.gradient_seen) return;
  if (layer.path(Path::grad_weight).calls == 0 && site.parameter >= 0) {
    layer.notes.push_back("its weight is frozen: no grad_weight");
  }
  if (layer.path(Path::grad_input).calls == 0) {
    layer.notes.push_back("nothing below it needs a gradient: no grad_input");
  }
  if (layer.path(Path::grad_weight).calls > 0 && work.gradient_nonzero && is_zero(gradient)) {
    layer.notes.push_back("grad_weight is exactly zero: its input is");
  }
}

std::vector<std::string> model_findings(const Trace& trace,
                                        const std::vector<backward::Site>& sites,
                                        const models::Model& model,
                                        const std::vector<at::Tensor>& gradients) {
  std::vector<std::string> notes;
  std::vector<std::string> zero;
  for (const auto& layer : trace.layers) {
    if (layer.reason == "its gradient is exactly zero") zero.push_back(layer.name);
  }
  if (!zero.empty()) {
    const std::vector<std::string> causes = zero_parameters(sites, model);
    notes.push_back(fmt::format("{} of {} layers have an exactly zero gradient ({}){}", zero.size(),
                                trace.layers.size(), first_names(zero),
                                causes.empty()
                                    ? ""
                                    : fmt::format(": {} {} all zero", first_names(causes),
                                                  causes.size() > 1 ? "are" : "is")));
  }
  std::vector<std::string> missing;
  std::vector<std::string> sparse;
  for (std::size_t i = 0; i < model.parameters.size() && i < gradients.size(); ++i) {
    const auto& p = model.parameters[i];
    if (p.tensor.requires_grad() && !gradients[i].defined()) missing.push_back(p.names.front());
    if (is_sparse(gradients[i])) sparse.push_back(p.names.front());
  }
  if (!missing.empty()) {
    notes.push_back(
        fmt::format("{} of {} parameters get no gradient, the loss doesn't reach them: {}",
                    missing.size(), model.parameters.size(), first_names(missing)));
  }
  if (!sparse.empty()) {
    notes.push_back(fmt::format("sparse gradient, left as it is: {}", first_names(sparse)));
  }
  const auto eligible = std::count_if(trace.layers.begin(), trace.layers.end(),
                                      [](const auto& l) { return l.eligible; });
  if (eligible == 0) {
    notes.push_back(
        trace.layers.empty()
            ? "no layer with a matrix product ran: there is nothing to approximate"
            : fmt::format("none of {} layers is eligible: the backward pass stays exact",
                          trace.layers.size()));
  }
  return notes;
}

}  // namespace hot::trace
