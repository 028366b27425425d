#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analyzers/select/cost.hpp"
#include "analyzers/select/policies.hpp"

namespace hot::select {
namespace {

struct Candidate {
  Scheme scheme;
  double cost = 1;
  double error = 0;
};

auto rank(const Candidate& c) {
  const int scales = (c.scheme.granularity != Granularity::tensor ? 1 : 0) +
                     (c.scheme.other != Granularity::tensor ? 1 : 0);
  return std::make_tuple(c.cost, !c.scheme.is_exact(), scales, c.scheme.rounding, c.error,
                         c.scheme);
}

bool before(const Candidate& a, const Candidate& b) {
  return rank(a) < rank(b);
}

Choice none_admissible(const Question& question) {
  const auto lowest = std::min_element(
      question.rows.begin(), question.rows.end(),
      [](const ErrorRow* a, const ErrorRow* b) { return largest_error(*a) < largest_error(*b); });
  return {Scheme{},
          {"", 0,
           fmt::format("no scheme stays under relative error {:.3g}; the lowest is {:.3g} of {}",
                       question.max_error, largest_error(**lowest), to_string((*lowest)->scheme))}};
}

}  // namespace

Choice choose_layerwise(const Question& question) {
  const PathWork& work = question.layer.path(question.path);
  std::vector<Candidate> candidates;
  for (const ErrorRow* row : question.rows) {
    const double error = largest_error(*row);
    if (error > question.max_error) continue;
    candidates.push_back({row->scheme, modelled_cost(row->scheme, work), error});
  }
  if (candidates.empty()) return none_admissible(question);
  candidates.emplace_back();  // exact: cost 1, no error
  std::sort(candidates.begin(), candidates.end(), before);
  const Candidate& pick = candidates[0];
  const auto next = std::find_if(candidates.begin(), candidates.end(),
                                 [&](const Candidate& c) { return c.cost > pick.cost; });
  const std::string constraint =
      pick.scheme.is_exact()
          ? "exact is the cheapest for products of this size"
          : fmt::format("cheapest under relative error {:.3g}", question.max_error);
  if (next == candidates.end()) return {pick.scheme, {"", 0, constraint}};
  return {pick.scheme, {to_string(next->scheme), next->cost / pick.cost - 1, constraint}};
}

}  // namespace hot::select
