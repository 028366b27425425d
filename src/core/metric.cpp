#include "core/metric.hpp"

#include <algorithm>
#include <stdexcept>

namespace hot {

const char* to_string(Origin origin) {
  switch (origin) {
    case Origin::measured:
      return "measured";
    case Origin::modelled:
      return "modelled";
    case Origin::simulated:
      return "simulated";
  }
  return "?";
}

const std::vector<MetricInfo>& metric_infos() {
  static const std::vector<MetricInfo> table = {
      // What a scheme does to one gradient (methods.md, section 4).
      {"relative_error", "", "‖ĝ−g‖/‖g‖ of one gradient, root mean square over seeds"},
      {"cosine", "", "⟨g,ĝ⟩/(‖g‖‖ĝ‖) of one gradient", Better::higher},
      {"sqnr_db", "dB", "20·log10(‖g‖/‖ĝ−g‖) of one gradient", Better::higher},
      {"max_abs_error", "", "largest |ĝ−g| of one gradient, in the gradient's own unit"},
      {"projection", "", "⟨g,ĝ⟩/⟨g,g⟩: what is left of the descent direction", Better::neither},
      {"bias", "", "‖E ĝ − g‖/‖g‖ over the seeds of stochastic rounding"},
      {"deviation", "", "√E‖ĝ − E ĝ‖²/‖g‖ over the seeds of stochastic rounding"},
      {"deviation_closed_form", "", "the deviation from √Σ s²f(1−f)‖B‖²/‖g‖, without drawing"},
      {"noise_ratio", "", "relative error divided by the minibatch noise of the gradient"},
      {"time_ms", "ms", "one gradient by the scheme, all calls of a step, preparing x included"},
      {"kept_bytes", "bytes", "what forward keeps for the layer's grad_weight in place of x"},
      {"exact_input_ms", "ms", "the layer's exact grad_input, all calls of a step"},
      {"exact_weight_ms", "ms", "the layer's exact grad_weight, all calls of a step"},
      {"input_norm", "", "‖grad_input‖ of the layer, root mean square over minibatches",
       Better::neither},
      {"input_share", "ratio",
       "squared relative error of all parameter gradients for each unit of that of grad_input",
       Better::neither},
      {"weight_share", "ratio",
       "squared relative error of all parameter gradients for each unit of that of grad_weight",
       Better::neither},
      {"layer_noise", "", "minibatch noise σ of the gradient of the layer's weight",
       Better::neither},
      {"minibatch_noise", "", "σ = √(Σ‖g_i−ḡ‖²/(B−1))/‖ḡ‖ of all parameter gradients together",
       Better::neither},
      {"samples", "count", "gradients that were compared: seeds × minibatches", Better::neither},
      {"entries", "count", "entries of one gradient that were compared", Better::neither},
      // What a plan should bring.
      {"cost", "ratio",
       "work relative to the exact FP32 products, transforms and rounding included"},
      {"saved_fraction", "share", "bytes kept of the layer inputs for backward, relative to FP32"},
      {"largest_relative_error", "",
       "largest relative error among the gradients that the plan changes"},
      {"mean_relative_error", "",
       "relative error of the gradients, averaged with their FLOPs as weights"},
      {"predicted_error", "", "relative error of all parameter gradients together"},
      {"predicted_ms", "ms", "backward time of all eligible layers, preparing x included"},
      {"predicted_exact_ms", "ms", "the same of the exact products"},
      {"predicted_saved_bytes", "bytes", "kept for backward with the plan, without weights"},
      {"optimality_gap", "share", "how far from the least that is possible the plan may be"},
      {"parts_error", "",
       "root of the sum of squares of what each of the plan's schemes alone causes"},
      {"additivity", "ratio", "the whole gradient's measured error / that of the parts",
       Better::neither},
      {"rounds", "count", "plans that were verified, with repairs", Better::neither},
      {"propagated_error", "",
       "relative error of all parameter gradients together that this scheme alone causes"},
      {"ranking_tau", "",
       "Kendall's tau between the minibatches' rankings of the schemes, mean over gradients",
       Better::higher},
      {"input_tau", "", "the same of the schemes of grad_input", Better::higher},
      {"weight_tau", "", "the same of the schemes of grad_weight", Better::higher},
      // What a plan brings (verification).
      {"exact_ms", "ms", "backward of the planned layers, exact"},
      {"plan_ms", "ms", "the same by the plan's kernels, preparing x in forward included"},
      {"speedup", "ratio", "exact time / plan's time; above 1 is faster", Better::higher},
      {"eligible_exact_ms", "ms", "backward pass of all eligible layers, exact"},
      {"eligible_plan_ms", "ms", "the same with the plan, layers that it leaves exact included"},
      {"eligible_speedup", "ratio", "of these two", Better::higher},
      {"step_exact_ms", "ms", "forward and backward pass, exact"},
      {"step_plan_ms", "ms", "forward and backward pass with the plan"},
      {"step_speedup", "ratio", "exact step time / plan's step time", Better::higher},
      {"saved_bytes_exact", "bytes", "kept for backward, exact, without weights"},
      {"saved_bytes_plan", "bytes", "kept for backward with the plan, without weights"},
      {"peak_bytes_exact", "bytes", "most memory above a step's start, exact"},
      {"peak_bytes_plan", "bytes", "most memory above a step's start, with the plan"},
      {"gradient_error", "", "relative, of all parameter gradients together"},
      {"gradient_cosine", "", "cosine of all parameter gradients together", Better::higher},
      {"self_check", "",
       "relative error of all gradients together when every layer is replaced exactly",
       Better::neither},
      {"kernel_deviation", "",
       "largest deviation of an integer product from the same integers in double, of the largest",
       Better::neither},
      {"repeats", "count", "pairs of exact and planned steps that were timed", Better::neither},
      // What training with a plan comes to (train); differences are plan minus exact, by pairs.
      {"final_loss_exact", "", "training loss, mean over the last tenth of the steps, exact"},
      {"final_loss_plan", "", "training loss, mean over the last tenth of the steps, by the plan"},
      {"final_loss_difference", "", "of these losses, plan minus exact, by pairs of runs"},
      {"held_out_loss_exact", "", "loss on held-out data after training, exact"},
      {"held_out_loss_plan", "", "loss on held-out data after training by the plan"},
      {"held_out_loss_difference", "", "of these losses, plan minus exact, by pairs of runs"},
      {"accuracy_exact", "%", "held-out labels predicted after training, exact", Better::higher},
      {"accuracy_plan", "%", "held-out labels predicted after training by the plan",
       Better::higher},
      {"accuracy_difference", "points", "of these accuracies, plan minus exact, by pairs of runs",
       Better::higher},
      {"gradient_cosine_lowest", "",
       "lowest cosine of all parameter gradients together along the way", Better::higher},
      {"seeds", "count", "pairs of training runs", Better::neither},
      // Where a step's time goes (profile).
      {"optimizer_ms", "ms", "the optimizer's step"},
      {"parts_share", "share", "of the step's time, spent in layers and other operations",
       Better::neither},
      {"watching_cost", "share", "what timing the parts adds to a step", Better::neither},
      {"watching_pairs", "count", "pairs of plain and watched steps that tell it", Better::neither},
      {"hook_us", "us", "timing one operation, which the parts are freed of"},
      {"eligible_share", "share", "of the step's time, backward products that a plan can change",
       Better::neither},
      {"amdahl_limit", "ratio", "step's speed-up if all eligible backward products were free",
       Better::higher},
      {"amdahl_plan", "ratio", "step's speed-up if the plan changed the products' times alone",
       Better::higher},
      {"gemm_flops_per_second", "FLOP/s", "float32 matrix product that this machine reaches",
       Better::higher},
      {"copy_bytes_per_second", "bytes/s", "a copy's bytes read and written, on this machine",
       Better::higher},
      // What the analysis itself took.
      {"run_to_step_ratio", "ratio", "time of the whole run divided by one plain training step"},
      {"run_to_step_per_batch", "ratio", "the same for each calibration batch"},
      {"load_seconds", "s", "loading the model and making its inputs"},
      {"trace_seconds", "s", "an observed and a plain step"},
      {"measure_seconds", "s", "errors of all schemes, one step a batch"},
      {"cost_seconds", "s", "reach of the errors and times of the schemes"},
      {"select_seconds", "s", "the plan, and the front with --pareto"},
      {"verify_seconds", "s", "steps with the plan beside exact ones"},
      {"run_peak_bytes", "bytes", "most resident memory of the process, whole run"},
      {"step_peak_bytes", "bytes",
       "most resident memory of the process until one plain training step had run"},
      {"run_to_step_memory", "ratio", "memory of the whole run divided by that of the step"},
  };
  return table;
}

const MetricInfo& metric_info(std::string_view name) {
  for (const MetricInfo& info : metric_infos()) {
    if (info.name == name) return info;
  }
  throw std::logic_error("no metric is called " + std::string(name));
}

void Metrics::set(std::string_view name, double value, Origin origin, std::optional<double> ci95) {
  const Metric metric{&metric_info(name), value, origin, ci95};
  const auto same = std::find_if(metrics_.begin(), metrics_.end(),
                                 [&](const Metric& m) { return m.info == metric.info; });
  if (same == metrics_.end()) {
    metrics_.push_back(metric);
  } else {
    *same = metric;
  }
}

const Metric* Metrics::find(std::string_view name) const {
  for (const Metric& metric : metrics_) {
    if (metric.info->name == name) return &metric;
  }
  return nullptr;
}

double Metrics::value(std::string_view name) const {
  const Metric* metric = find(name);
  if (metric == nullptr) throw std::logic_error("metric not set: " + std::string(name));
  return metric->value;
}

}  // namespace hot
