#include "analyzers/select/select.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzers/select/front.hpp"
#include "analyzers/select/memory_of_hot.hpp"
#include "analyzers/select/optimize.hpp"
#include "analyzers/select/policies.hpp"
#include "analyzers/select/predict.hpp"
#include "analyzers/select/reasons.hpp"
#include "core/errors.hpp"

namespace hot::select {
namespace {

using RowsByPath = std::map<std::pair<std::string, Path>, std::vector<const ErrorRow*>>;

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

const Policy& find_policy(const std::string& name) {
  std::string names;
  for (const Policy& policy : policies()) {
    if (policy.name == name) return policy;
    fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", policy.name);
  }
  throw UsageError(fmt::format("there is no policy '{}'; the policies are {}", name, names));
}

void check(const Options& options, const Trace& trace) {
  if (!(options.max_error.value > 0) || !std::isfinite(options.max_error.value)) {
    throw UsageError(fmt::format("the largest relative error must be a number over 0, not {}",
                                 options.max_error.value));
  }
  for (const std::string& pattern : options.keep_exact) {
    const bool found =
        std::any_of(trace.layers.begin(), trace.layers.end(),
                    [&](const LayerTrace& layer) { return matches(pattern, layer.name); });
    if (!found) {
      const std::string example =
          trace.layers.empty() ? "" : fmt::format("; a layer is called '{}'", trace.layers[0].name);
      throw UsageError(fmt::format("no layer to keep exact matches '{}'{}", pattern, example));
    }
  }
}

/// `simulated`: also those that no device here runs.
RowsByPath usable_rows(const ErrorTable& errors, bool simulated) {
  RowsByPath rows;
  for (const ErrorRow& row : errors.rows) {
    if (row.execution == Execution::simulated && !simulated) continue;
    if (row.scheme.is_exact() || why_illegal(row.scheme, row.path)) continue;
    rows[{row.layer, row.path}].push_back(&row);
  }
  return rows;
}

Choice exact(std::string constraint) {
  return {Scheme{}, {"", 0, std::move(constraint)}};
}

Choice choose(const Question& question, const Options& options, const Policy& policy) {
  std::string why = why_only_exact(question.layer, question.path, question.rows, options);
  if (why == "no error was measured" && policy.method) why.clear();
  return why.empty() ? policy.choose(question) : exact(std::move(why));
}

Plan layer_by_layer(const Trace& trace, const ErrorTable& errors, const Options& options,
                    const Policy& policy) {
  if (options.max_error.relative) {
    throw UsageError(
        fmt::format("--max-error {} is for the policy auto; {} judges each gradient by "
                    "itself, write a relative error",
                    options.max_error.text, policy.name));
  }
  if (options.time_budget.value > 0 || options.memory_budget.value > 0) {
    throw UsageError(
        fmt::format("budgets are for the policy auto; {} takes what it takes", policy.name));
  }
  RowsByPath rows = usable_rows(errors, options.simulated || policy.method);
  Plan plan;
  plan.policy = options.policy;
  for (const LayerTrace& layer : trace.layers) {
    if (!layer.eligible) continue;
    const auto lqs = std::find_if(errors.lqs.begin(), errors.lqs.end(),
                                  [&](const LqsChoice& l) { return l.layer == layer.name; });
    const auto facts = std::find_if(errors.facts.begin(), errors.facts.end(),
                                    [&](const LayerFacts& f) { return f.layer == layer.name; });
    const auto ask = [&](Path path) {
      return choose(
          {layer, path, rows[{layer.name, path}], lqs == errors.lqs.end() ? nullptr : &*lqs,
           options.max_error.value, facts == errors.facts.end() ? nullptr : &*facts},
          options, policy);
    };
    Choice input = ask(Path::grad_input);
    Choice weight = ask(Path::grad_weight);
    plan.layers.push_back({layer.name, layer.weight_shape, input.scheme, weight.scheme,
                           std::move(input.why), std::move(weight.why)});
  }
  return plan;
}

std::string plan_note(const std::string& objective, const Bounds& bounds, double gap) {
  std::string limits;
  const auto add = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    limits += fmt::format("{}{} {}", limits.empty() ? "" : ", ", name, text);
  };
  add("whole gradient error at most", bounds.error_text);
  add("time at most", bounds.time_text);
  add("saved bytes at most", bounds.memory_text);
  return fmt::format("Least {}{}{}; proven to within {:.2g} % of the optimum of the predictions.",
                     objective, limits.empty() ? "" : " with ", limits, 100 * gap);
}

Plan whole_at_once(const Trace& trace, const ErrorTable& errors, const Options& options,
                   const Correction& correction) {
  const WholePlan whole = whole_plan(trace, errors, options, correction);
  Bounds bounds = bounds_of(whole, errors, options);
  const Solution solution =
      with_memory_of_hot(whole, errors, options, best_plan(whole, bounds, options), bounds);
  const std::string objective = objective_of(options);
  std::vector<Why> why = reasons(whole, bounds, objective, solution);
  Plan plan;
  plan.policy = options.policy;
  for (std::size_t g = 0; g + 1 < whole.gradients.size(); g += 2) {
    const Gradient& input = whole.gradients[g];
    const Gradient& weight = whole.gradients[g + 1];
    plan.layers.push_back({input.layer->name, input.layer->weight_shape,
                           input.schemes[solution.picks[g]], weight.schemes[solution.picks[g + 1]],
                           std::move(why[g]), std::move(why[g + 1])});
  }
  plan.notes.push_back(plan_note(objective, bounds, solution.gap));
  if (!errors.facts.empty()) {
    plan.predicted.set("predicted_error", std::sqrt(solution.totals.error), Origin::modelled);
    plan.predicted.set("predicted_ms", solution.totals.time, Origin::modelled);
  }
  if (!errors.activations.empty()) {
    plan.predicted.set("predicted_saved_bytes", solution.totals.bytes, Origin::modelled);
  }
  plan.predicted.set("optimality_gap", solution.gap, Origin::modelled);
  if (options.pareto) plan.front = front(whole, solution.totals, errors);
  return plan;
}

}  // namespace

Plan select(const Trace& trace, const ErrorTable& errors, const Fingerprint& model,
            const Options& options, const Correction* correction) {
  const Policy& policy = find_policy(options.policy);
  check(options, trace);
  Plan plan = policy.choose == nullptr
                  ? whole_at_once(trace, errors, options,
                                  correction == nullptr ? Correction{} : *correction)
                  : layer_by_layer(trace, errors, options, policy);
  plan.model = model;
  const Metrics predicted = predict(plan, trace, errors);
  for (const Metric& m : predicted.all()) {
    if (plan.predicted.find(m.info->name) != nullptr) continue;  // corrected by a verification
    plan.predicted.set(m.info->name, m.value, m.origin, m.ci95);
  }
  return plan;
}

}  // namespace hot::select
