#include "reports/advice.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/verdict.hpp"

namespace hot::reports {
namespace {

constexpr double kWorthwhile = 0.01;  // a saving of memory that outcomes count too

enum class Speed { unknown, faster, noise, slower };

Speed speed_of(const Metrics& total) {
  const Metric* speedup = total.find("speedup");
  if (speedup == nullptr || std::isnan(speedup->value)) return Speed::unknown;
  if (std::abs(speedup->value - 1) <= speedup->ci95.value_or(0)) return Speed::noise;
  return speedup->value > 1 ? Speed::faster : Speed::slower;
}

/// Share of the saved bytes that the plan spares, 0 where it isn't known or negative.
double saving(const Metrics& total) {
  const Metric* exact = total.find("saved_bytes_exact");
  const Metric* plan = total.find("saved_bytes_plan");
  if (exact == nullptr || plan == nullptr || exact->value <= 0) return 0;
  return std::max(0.0, 1 - plan->value / exact->value);
}

/// A warning where the gradient is far off; empty where it isn't.
std::string caution(const Metrics& total) {
  const Metric* error = total.find("gradient_error");
  if (error == nullptr || error->value < kDoubtfulGradientError) return "";
  return fmt::format(
      "Don't train with this plan untried: its kernels compute what was planned, but "
      "the gradient of all parameters is off by {:.0f} % ({}).",
      100 * error->value, to_string(error->origin));
}

std::string of_passed(const Metrics& total) {
  if (std::string warning = caution(total); !warning.empty()) return warning;
  const double saved = saving(total);
  const std::string memory = fmt::format("keeps {:.0f} % fewer bytes for backward", 100 * saved);
  const bool saves = saved >= kWorthwhile;
  switch (speed_of(total)) {
    case Speed::faster:
      return fmt::format("Use the plan: it is faster here{}.", saves ? " and " + memory : "");
    case Speed::slower:
      if (!saves) break;
      return fmt::format(
          "Use the plan where memory is short, not for speed: it {}, but is slower "
          "on this machine.",
          memory);
    case Speed::noise:
    case Speed::unknown:
      if (!saves) break;
      return fmt::format("Use the plan where memory is short: it {} at about the same speed.",
                         memory);
  }
  return "The plan is right, but brings neither time nor memory that can be told from noise here.";
}

std::string of_verification(const Verification& verification) {
  switch (verification.outcome) {
    case Outcome::passed:
      return of_passed(verification.total);
    case Outcome::slower:
      return "Keep the exact backward pass on this machine: the plan's gradients are right, but it "
             "is slower and saves less than 1 % of the bytes.";
    case Outcome::incorrect:
      return "Don't use this plan: what its kernels computed is not what was planned. The layers "
             "that failed are listed below; --keep-exact leaves them out.";
    case Outcome::unsupported:
      return "This plan can't be put in place here; the reason stands above.";
    case Outcome::over_limit:
      return "Don't rely on this plan for the limit that it misses; a stricter limit leaves it "
             "room, "
             "and --keep-exact takes out the layers with the largest errors.";
    case Outcome::simulated:
      return "Judge the plan by its gradients alone: its formats were simulated in float32, so "
             "this "
             "run says nothing of their speed and memory.";
    case Outcome::not_run:
      break;
  }
  return "Nothing was run with the plan's kernels: every gradient stays exact.";
}

std::string of_profile(const Metrics& metrics) {
  const Metric* speedup = metrics.find("step_speedup");
  if (speedup == nullptr)
    return fmt::format(
        "A plan can make a step at most {:.2f} times as fast (modelled): hot-analyze MODEL finds "
        "how much of that is within reach, and at which error.",
        metrics.value("amdahl_limit"));
  if (std::abs(speedup->value - 1) <= speedup->ci95.value_or(0))
    return "The plan's step takes as long as the exact one within the noise; what it does to "
           "memory stands below.";
  return speedup->value > 1
             ? "The plan makes this step faster; hot-analyze verify says what it does to gradients."
             : "The plan makes this step slower here; what it does to memory stands below.";
}

}  // namespace

std::string advice_text(const Report& report) {
  if (report.interrupted) return "Run it again to the end before you decide anything.";
  if (!report.verification && report.profile && report.profile->time)
    return of_profile(report.profile->time->metrics);
  if (report.plan && report.plan->all_exact()) {
    return "Keep the exact backward pass: for no gradient a scheme is cheaper within the bound.";
  }
  if (report.verification) return of_verification(*report.verification);
  if (report.plan) {
    return "Verify the plan before you use it: hot-analyze verify MODEL --plan PLAN runs it beside "
           "the exact pass.";
  }
  if (report.errors) return "Let the run go on to a plan: leave out --stop-after.";
  if (report.trace)
    return "Nothing was judged yet: hot-analyze MODEL measures what each layer bears.";
  return "The model was not run.";
}

std::vector<std::pair<std::string, std::string>> next_commands(const Report& report) {
  if (report.interrupted || !report.plan || report.plan->all_exact()) return {};
  const std::string& model = report.model.path;
  if (!report.verification) {
    if (report.profile && report.profile->time) return {};
    return {{fmt::format("hot-analyze verify {} --plan PLAN", model), "runs the plan"}};
  }
  if (report.verification->outcome != Outcome::passed) return {};
  return {{fmt::format("hot-analyze train {} --data DATA --plan PLAN", model),
           "trains a few steps exactly and by the plan, and compares"},
          {"hot_apply.apply(model, \"PLAN\")", "puts the plan into a PyTorch program"}};
}

}  // namespace hot::reports
