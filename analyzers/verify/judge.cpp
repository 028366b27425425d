#include "analyzers/verify/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/native_formats.hpp"

namespace hot::verify {
namespace {

bool faster(const Metrics& m) {
  const auto* speedup = m.find("speedup");
  return speedup != nullptr && speedup->value >= 1;
}

/// Share of the exact run's saved bytes that has to go before it counts as a gain.
constexpr double kWorthwhile = 0.01;

bool saves_memory(const Metrics& m) {
  const auto* exact = m.find("saved_bytes_exact");
  const auto* plan = m.find("saved_bytes_plan");
  return exact != nullptr && plan != nullptr && plan->value <= (1 - kWorthwhile) * exact->value &&
         plan->value < exact->value;
}

/// passed where the plan buys time or memory, else slower.
Outcome gain(const Metrics& metrics, std::string& reason) {
  if (faster(metrics) || saves_memory(metrics)) return Outcome::passed;
  const auto* speedup = metrics.find("speedup");
  reason = fmt::format("{:.2f} times the exact speed and less than 1 % of the bytes saved",
                       speedup == nullptr ? 0 : speedup->value);
  return Outcome::slower;
}

}  // namespace

void judge_layer(LayerVerification& layer, const LayerTrace& trace, const LayerPlan& plan,
                 const backward::LayerRuns* runs, const GradientComparison& gradient) {
  const auto set = [&layer](Outcome outcome, std::string reason) {
    layer.outcome = outcome;
    layer.reason = std::move(reason);
  };
  if (plan.grad_input.is_exact() && plan.grad_weight.is_exact()) {
    return set(Outcome::not_run, "exact by plan");
  }
  const auto count = [&](const Scheme& scheme, Path path, std::int64_t ran) {
    if (scheme.is_exact()) return;
    layer.expected_calls += trace.path(path).calls;
    layer.kernel_calls += ran;
  };
  count(plan.grad_input, Path::grad_input, runs == nullptr ? 0 : runs->grad_input);
  count(plan.grad_weight, Path::grad_weight, runs == nullptr ? 0 : runs->grad_weight);
  if (layer.kernel_calls == 0 && layer.expected_calls > 0) {
    return set(Outcome::unsupported, "its backward can't be replaced in this model");
  }
  if (layer.kernel_calls != layer.expected_calls) {
    return set(Outcome::incorrect,
               fmt::format("{} of {} backward products went through the kernels",
                           layer.kernel_calls, layer.expected_calls));
  }
  if (!gradient.finite) return set(Outcome::incorrect, "its weight's gradient is NaN or infinite");
  const bool fp8 = is_fp8(plan.grad_input.format) || is_fp8(plan.grad_weight.format);
  if (runs != nullptr && runs->kernel_deviation > (fp8 ? kFp8Tolerance : kKernelTolerance)) {
    return set(Outcome::incorrect,
               fmt::format("the product deviates by {:.1e} from the same {} in double",
                           runs->kernel_deviation, fp8 ? "numbers" : "integers"));
  }
  if (is_simulated(plan.grad_input) || is_simulated(plan.grad_weight))
    return set(Outcome::simulated, "its format is simulated in float32");
  std::string reason;
  const auto outcome = gain(layer.metrics, reason);
  set(outcome, std::move(reason));
}

void judge_total(Verification& verification, const std::string& missed) {
  const auto first = [&](Outcome outcome) {
    return std::find_if(verification.layers.begin(), verification.layers.end(),
                        [outcome](const auto& layer) { return layer.outcome == outcome; });
  };
  const auto end = verification.layers.end();
  if (const auto wrong = first(Outcome::incorrect); wrong != end) {
    verification.outcome = Outcome::incorrect;
    verification.reason = fmt::format("layer '{}': {}", wrong->name, wrong->reason);
  } else if (const auto* check = verification.total.find("self_check");
             check != nullptr && check->value > 100 * kSelfCheckTolerance) {
    verification.outcome = Outcome::incorrect;
    verification.reason =
        fmt::format("replacing the layers exactly changes the gradients by {:.1e}", check->value);
  } else if (first(Outcome::simulated) != end) {
    verification.outcome = Outcome::simulated;
    verification.reason = "formats that no device here multiplies were simulated in float32";
  } else if (first(Outcome::passed) == end && first(Outcome::slower) == end) {
    const auto missing = first(Outcome::unsupported);
    verification.outcome = missing == end ? Outcome::not_run : Outcome::unsupported;
    verification.reason = missing == end
                              ? "every layer stays exact"
                              : fmt::format("layer '{}': {}", missing->name, missing->reason);
  } else if (!missed.empty()) {
    verification.outcome = Outcome::over_limit;
    verification.reason = missed;
  } else {
    verification.outcome = gain(verification.total, verification.reason);
  }
}

}  // namespace hot::verify
