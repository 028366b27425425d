#include "analyzers/select/repair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzers/select/predict.hpp"
#include "core/errors.hpp"

namespace hot::select {
namespace {

/// What is aimed for below a limit that was missed for the n-th time (4 %, 16 %, 64 %), so that the
/// next plan doesn't end on its edge.
double caution(int misses) {
  return 1 + 0.04 * std::pow(4.0, misses - 1);
}

/// Times the predicted error that grad_input's schemes are believed to cause; beyond it all errors
/// are doubted.
constexpr double kLargestExcess = 5;

double value_or(const Metrics& metrics, const char* name, double otherwise) {
  const Metric* metric = metrics.find(name);
  return metric == nullptr ? otherwise : metric->value;
}

}  // namespace

std::optional<Plan> Repair::operator()(const Plan& plan,
                                       const std::vector<LayerVerification>& layers,
                                       const Metrics& total, std::vector<std::string>& notes) {
  const bool error = correct_error(plan, total, notes);
  const bool bytes = correct_bytes(plan, total, notes);
  const bool time = correct_time(plan, total, notes);
  const bool slower = correct_layers(plan, layers, notes);
  if (!error && !bytes && !time && !slower) return std::nullopt;
  try {
    return select(trace_, errors_, plan.model, tightened(), &correction_);
  } catch (const UsageError& refusal) {
    notes.push_back(fmt::format("After that {}; the plan stays as it was.", refusal.what()));
    return std::nullopt;
  }
}

std::string Repair::missed(const Metrics& total) const {
  const double error = value_or(total, "gradient_error", 0);
  const double error_limit =
      options_.max_error.amount(value_or(errors_.whole, "minibatch_noise", 0));
  if (error_limit > 0 && error > error_limit) {
    return fmt::format("the whole gradient's error is {:.3g}, over --max-error {}", error,
                       options_.max_error.relative
                           ? fmt::format("{} = {:.3g}", options_.max_error.text, error_limit)
                           : options_.max_error.text);
  }
  const double bytes = value_or(total, "saved_bytes_plan", 0);
  const double bytes_limit = options_.memory_budget.amount(static_cast<double>(trace_.saved_bytes));
  if (bytes_limit > 0 && bytes > bytes_limit) {
    return fmt::format("forward keeps {:.4g} MB, over --memory-budget {} ({:.4g} MB)", bytes / 1e6,
                       options_.memory_budget.text, bytes_limit / 1e6);
  }
  const Metric* ms = total.find("eligible_plan_ms");
  const double ms_limit = options_.time_budget.amount(value_or(total, "eligible_exact_ms", 0));
  if (ms != nullptr && ms_limit > 0 && ms->value - ms->ci95.value_or(0) > ms_limit) {
    return fmt::format(
        "the backward pass of the eligible layers takes {:.4g} ms, over "
        "--time-budget {} ({:.4g} ms)",
        ms->value, options_.time_budget.text, ms_limit);
  }
  return "";
}

bool Repair::correct_error(const Plan& plan, const Metrics& total,
                           std::vector<std::string>& notes) {
  const double measured = value_or(total, "gradient_error", 0);
  const double predicted = value_or(plan.predicted, "predicted_error", 0);
  const double limit = options_.max_error.amount(value_or(errors_.whole, "minibatch_noise", 0));
  if (measured <= limit || predicted <= 0) return false;
  ++misses_;
  correct_parts(plan, measured, predicted);
  const bool all = correction_.error != 1;
  notes.push_back(fmt::format(
      "The whole gradient's error was measured at {:.3g}, over the limit of {:.3g} (predicted "
      "{:.3g}); the plan was solved again with {} taken {:.2g} times as large.",
      measured, limit, predicted, all ? "errors" : "the errors of grad_input's schemes",
      all ? correction_.error : correction_.input_error));
  return true;
}

void Repair::correct_parts(const Plan& plan, double measured, double predicted) {
  const auto parts = error_parts(plan, trace_, errors_);
  const double all = correction_.error * correction_.error;
  const double input = parts ? parts->input * all * std::pow(correction_.input_error, 2) : 0;
  const double left = parts ? measured * measured - parts->weight * all : 0;
  if (input > 0 && left > input && left <= kLargestExcess * kLargestExcess * input) {
    correction_.input_error *= std::sqrt(left / input);
  } else {
    correction_.error *= measured / predicted;
  }
}

Options Repair::tightened() const {
  Options options = options_;
  if (misses_ > 0) options.max_error.value /= caution(misses_);
  return options;
}

bool Repair::correct_bytes(const Plan& plan, const Metrics& total,
                           std::vector<std::string>& notes) {
  const Metric* predicted = plan.predicted.find("predicted_saved_bytes");
  const double measured = value_or(total, "saved_bytes_plan", 0);
  const double limit = options_.memory_budget.amount(static_cast<double>(trace_.saved_bytes));
  if (limit <= 0 || measured <= limit || predicted == nullptr) return false;
  correction_.extra_bytes += measured - predicted->value;
  notes.push_back(fmt::format(
      "Forward kept {:.4g} MB, over the limit of {:.4g} MB; the plan was solved again with the "
      "{:.4g} MB that the prediction had missed.",
      measured / 1e6, limit / 1e6, correction_.extra_bytes / 1e6));
  return true;
}

bool Repair::correct_time(const Plan& plan, const Metrics& total, std::vector<std::string>& notes) {
  const Metric* ms = total.find("eligible_plan_ms");
  const Metric* predicted = plan.predicted.find("predicted_ms");
  const double limit = options_.time_budget.amount(value_or(total, "eligible_exact_ms", 0));
  if (ms == nullptr || predicted == nullptr || predicted->value <= 0 || limit <= 0) return false;
  if (ms->value - ms->ci95.value_or(0) <= limit) return false;
  // `predicted` has no correction in it: it is of the same times as the table's.
  correction_.time = caution(++time_misses_) * std::max(1.0, ms->value / predicted->value);
  notes.push_back(
      fmt::format("The backward pass of the eligible layers took {:.4g} ms, over the limit of "
                  "{:.4g} ms (predicted {:.4g} ms); the plan was solved again with the schemes' "
                  "times taken {:.2g} times as long.",
                  ms->value, limit, predicted->value, correction_.time));
  return true;
}

bool Repair::correct_layers(const Plan& plan, const std::vector<LayerVerification>& layers,
                            std::vector<std::string>& notes) {
  std::size_t slower = 0;
  for (const LayerVerification& seen : layers) {
    const LayerPlan* planned = plan.find(seen.name);
    const double speedup = value_or(seen.metrics, "speedup", 1);
    if (planned == nullptr || seen.outcome != Outcome::slower || speedup >= kClearlySlower)
      continue;
    double schemes = 0;
    double exact = 0;
    const auto add = [&](Path path, const Scheme& scheme, const char* exact_name) {
      const Metric* alone = errors_.fact(seen.name, exact_name);
      if (alone == nullptr) return;
      const ErrorRow* row = scheme.is_exact() ? nullptr : errors_.find(seen.name, path, scheme);
      exact += alone->value;
      schemes += row == nullptr ? alone->value : value_or(row->metrics, "time_ms", alone->value);
    };
    add(Path::grad_input, planned->grad_input, "exact_input_ms");
    add(Path::grad_weight, planned->grad_weight, "exact_weight_ms");
    // In the model the layer took 1/speedup of its exact time: its schemes are charged for that,
    // twice over, so that noise doesn't bring them back.
    const double factor =
        schemes > 0 && exact > 0 ? 2 * std::max(1.0, exact / speedup / schemes) : 4;
    correction_.layers.push_back({seen.name, factor});
    ++slower;
  }
  if (slower == 0) return false;
  notes.push_back(
      fmt::format("{} planned layers were measured slower than exact; the plan was "
                  "solved again with their times as they were measured.",
                  slower));
  return true;
}

}  // namespace hot::select
