#include "analyzers/select/select.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzers/select/policies.hpp"
#include "analyzers/select/predict.hpp"
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
  if (!(options.max_error > 0) || !std::isfinite(options.max_error)) {
    throw UsageError(fmt::format("the largest relative error must be a number over 0, not {}",
                                 options.max_error));
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

RowsByPath usable_rows(const ErrorTable& errors) {
  RowsByPath rows;
  for (const ErrorRow& row : errors.rows) {
    if (row.scheme.is_exact() || why_illegal(row.scheme, row.path)) continue;
    rows[{row.layer, row.path}].push_back(&row);
  }
  return rows;
}

/// Measuring leaves out a gradient that is zero throughout, since no error can be relative to it;
/// trace says so.
bool has_zero_gradient(const LayerTrace& layer) {
  return std::any_of(layer.notes.begin(), layer.notes.end(), [](const std::string& note) {
    return note.find("zero") != std::string::npos;
  });
}

Choice exact(std::string constraint) {
  return {Scheme{}, {"", 0, std::move(constraint)}};
}

Choice choose(const Question& question, const Options& options, const Policy& policy) {
  if (question.layer.path(question.path).flops == 0) return exact("not computed");
  for (const std::string& pattern : options.keep_exact) {
    if (matches(pattern, question.layer.name)) return exact(fmt::format("kept exact: {}", pattern));
  }
  const bool measured = std::any_of(question.rows.begin(), question.rows.end(),
                                    [](const auto* r) { return std::isfinite(largest_error(*r)); });
  if (!measured && has_zero_gradient(question.layer)) return exact("its gradient is zero");
  if (!measured && policy.choose == choose_auto) return exact("no error was measured");
  return policy.choose(question);
}

}  // namespace

Plan select(const Trace& trace, const ErrorTable& errors, const Fingerprint& model,
            const Options& options) {
  const Policy& policy = find_policy(options.policy);
  check(options, trace);
  RowsByPath rows = usable_rows(errors);
  Plan plan{options.policy, model, {}, {}};
  for (const LayerTrace& layer : trace.layers) {
    if (!layer.eligible) continue;
    const auto lqs = std::find_if(errors.lqs.begin(), errors.lqs.end(),
                                  [&](const LqsChoice& l) { return l.layer == layer.name; });
    const auto ask = [&](Path path) {
      return choose({layer, path, rows[{layer.name, path}],
                     lqs == errors.lqs.end() ? nullptr : &*lqs, options.max_error},
                    options, policy);
    };
    Choice input = ask(Path::grad_input);
    Choice weight = ask(Path::grad_weight);
    plan.layers.push_back({layer.name, layer.weight_shape, input.scheme, weight.scheme,
                           std::move(input.why), std::move(weight.why)});
  }
  plan.predicted = predict(plan, trace, errors);
  return plan;
}

}  // namespace hot::select
