#pragma once

#include <string>
#include <vector>

#include "analyzers/trace/step_watcher.hpp"
#include "backward/recorder.hpp"
#include "core/layer_trace.hpp"
#include "models/model.hpp"

namespace hot::trace {

/// Decides whether a layer is eligible, says why not, and notes what is special about it (frozen,
/// shared, called often, a zero, sparse or missing gradient). `gradients` are
/// StepResult::gradients.
void judge(LayerTrace& layer, const backward::Site& site, const StepWatcher::SiteWork& work,
           const models::Model& model, const std::vector<at::Tensor>& gradients);

/// Sentences about the whole model: zero gradients and what causes them, parameters without a
/// gradient, no eligible layer.
[[nodiscard]] std::vector<std::string> model_findings(const Trace& trace,
                                                      const std::vector<backward::Site>& sites,
                                                      const models::Model& model,
                                                      const std::vector<at::Tensor>& gradients);

}  // namespace hot::trace
