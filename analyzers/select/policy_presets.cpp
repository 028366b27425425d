#include <fmt/format.h>

#include <algorithm>

#include "analyzers/select/policies.hpp"

namespace hot::select {
namespace {

Scheme half_rank_int8() {
  return {{Transform::Kind::lowrank, 16, 8, Basis::sequency},
          Format::int8,
          Granularity::tensor,
          Granularity::tensor,
          Rounding::nearest};
}

Scheme hadamard_int4(Granularity granularity) {
  return {{Transform::Kind::hadamard, 16, 16, Basis::sequency},
          Format::int4,
          granularity,
          Granularity::tensor,
          Rounding::stochastic};
}

std::string lqs_phrase(const LqsChoice& lqs) {
  const double ratio = lqs.error_tensor > 0 ? lqs.error_row / lqs.error_tensor : 1;
  return fmt::format("LQS: a scale per row has {:.2f} of the error of one scale", ratio);
}

}  // namespace

std::vector<Scheme> preset_schemes(std::string_view method, Path path) {
  if (path == Path::grad_weight) return {half_rank_int8()};
  if (method == "hlq") return {hadamard_int4(Granularity::tensor)};
  return {hadamard_int4(Granularity::tensor), hadamard_int4(Granularity::row)};
}

Choice choose_hot(const Question& question) {
  if (question.path == Path::grad_weight)
    return {half_rank_int8(), {"", 0, "scheme of the policy"}};
  if (question.lqs == nullptr) {
    return {hadamard_int4(Granularity::tensor), {"", 0, "LQS was not measured, so one scale"}};
  }
  const Granularity granularity = question.lqs->choice();
  const Granularity other =
      granularity == Granularity::row ? Granularity::tensor : Granularity::row;
  return {hadamard_int4(granularity),
          {to_string(hadamard_int4(other)), 0, lqs_phrase(*question.lqs)}};
}

Choice choose_hlq(const Question& question) {
  const Scheme scheme =
      question.path == Path::grad_weight ? half_rank_int8() : hadamard_int4(Granularity::tensor);
  return {scheme, {"", 0, "scheme of the policy"}};
}

Choice choose_lqs(const Question& question) {
  Choice choice = choose_hot(question);
  const auto row = std::find_if(question.rows.begin(), question.rows.end(),
                                [&](const ErrorRow* r) { return r->scheme == choice.scheme; });
  if (row == question.rows.end()) {
    return {Scheme{}, {"", 0, fmt::format("{} was not measured", to_string(choice.scheme))}};
  }
  const double error = largest_error(**row);
  if (error <= question.max_error) return choice;
  return {Scheme{},
          {"", 0,
           fmt::format("{} has relative error {:.3g}, over {:.3g}", to_string(choice.scheme), error,
                       question.max_error)}};
}

}  // namespace hot::select
