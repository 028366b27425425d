#include <fmt/format.h>

#include <algorithm>

#include "analyzers/select/policies.hpp"

namespace hot::select {
namespace {

/// A whole method (methods.md, section 3): the schemes that it takes on each path, the first one by
/// default. One row each.
struct Preset {
  std::string_view name;
  std::vector<std::string_view> grad_input;
  std::vector<std::string_view> grad_weight;
};

constexpr std::string_view kInt4Row = "had16+int4/row/stochastic";
constexpr std::string_view kInt4Tensor = "had16+int4/tensor/stochastic";
constexpr std::string_view kInt4Outliers = "had16+int4/tensor/stochastic+oe16";
constexpr std::string_view kHalfRank = "low16r8.sequency+int8/tensor/nearest";
constexpr std::string_view kLuq = "none+luq4:int4/tensor/stochastic";
constexpr std::string_view kPatches = "patch8r10";

const std::vector<Preset>& presets() {
  static const std::vector<Preset> table = {
      {"hot", {kInt4Tensor, kInt4Row}, {kHalfRank}},
      {"hlq", {kInt4Tensor}, {kHalfRank}},
      {"lbp-wht", {kPatches}, {kPatches}},
      {"luq", {kLuq}, {kLuq}},
      {"int4", {"none+int4/tensor/stochastic"}, {"none+int4/tensor/stochastic"}},
      {"int8", {"none+int8/tensor/stochastic"}, {"none+int8/tensor/stochastic"}},
      {"nvfp4", {"none+nvfp4/stochastic"}, {"rht16+nvfp4/stochastic"}},
      {"adahop", {kInt4Tensor, kInt4Outliers}, {kInt4Tensor, kInt4Outliers}},
  };
  return table;
}

/// The row of `scheme`, with what the layer fills in; nullptr where it wasn't measured.
const ErrorRow* row_of(const Question& question, const Scheme& scheme) {
  const auto row = std::find_if(question.rows.begin(), question.rows.end(), [&](const ErrorRow* r) {
    return r->scheme == scheme || without_layer(r->scheme) == scheme;
  });
  return row == question.rows.end() ? nullptr : *row;
}

/// The method's first scheme, whatever its error is.
Choice uniform(std::string_view method, const Question& question) {
  const Scheme scheme = preset_schemes(method, question.path).front();
  const ErrorRow* row = row_of(question, scheme);
  if (row != nullptr) return {row->scheme, {"", 0, "scheme of the policy"}};
  if (!is_resolved(scheme.transform))
    return {Scheme{}, {"", 0, "its rows are no image or grid of patches"}};
  return {scheme, {"", 0, "scheme of the policy"}};
}

std::string lqs_phrase(const LqsChoice& lqs) {
  const double ratio = lqs.error_tensor > 0 ? lqs.error_row / lqs.error_tensor : 1;
  return fmt::format("LQS: a scale per row has {:.2f} of the error of one scale", ratio);
}

}  // namespace

std::vector<Scheme> preset_schemes(std::string_view method, Path path) {
  std::vector<Scheme> schemes;
  for (const Preset& preset : presets()) {
    if (preset.name != method) continue;
    for (const auto text : path == Path::grad_input ? preset.grad_input : preset.grad_weight)
      schemes.push_back(parse_scheme(text));
  }
  return schemes;
}

Choice choose_hot(const Question& question) {
  const Scheme tensor = preset_schemes("hot", question.path).front();
  if (question.path == Path::grad_weight) return {tensor, {"", 0, "scheme of the policy"}};
  if (question.lqs == nullptr) return {tensor, {"", 0, "LQS was not measured, so one scale"}};
  const Scheme row = preset_schemes("hot", question.path).back();
  const bool by_row = question.lqs->choice() == Granularity::row;
  return {by_row ? row : tensor, {to_string(by_row ? tensor : row), 0, lqs_phrase(*question.lqs)}};
}

Choice choose_hlq(const Question& question) {
  return uniform("hlq", question);
}

Choice choose_lbp_wht(const Question& question) {
  return uniform("lbp-wht", question);
}

Choice choose_luq(const Question& question) {
  return uniform("luq", question);
}

Choice choose_int4(const Question& question) {
  return uniform("int4", question);
}

Choice choose_int8(const Question& question) {
  return uniform("int8", question);
}

Choice choose_nvfp4(const Question& question) {
  return uniform("nvfp4", question);
}

Choice choose_adahop(const Question& question) {
  const std::vector<Scheme> schemes = preset_schemes("adahop", question.path);
  std::string sides;
  bool extracts = false;
  if (question.facts != nullptr) {
    for (const OperandFacts& facts : question.facts->operands) {
      if (facts.path != question.path) continue;
      extracts = extracts || facts.along_contraction();
      fmt::format_to(std::back_inserter(sides), "{}{} {}", sides.empty() ? "outliers: " : ", ",
                     facts.operand, to_string(facts.side));
    }
  }
  if (sides.empty()) sides = "where outliers lie was not measured";
  return {schemes[extracts ? 1 : 0], {to_string(schemes[extracts ? 0 : 1]), 0, sides}};
}

Choice choose_lqs(const Question& question) {
  Choice choice = choose_hot(question);
  const ErrorRow* row = row_of(question, choice.scheme);
  if (row == nullptr) {
    return {Scheme{}, {"", 0, fmt::format("{} was not measured", to_string(choice.scheme))}};
  }
  const double error = largest_error(*row);
  if (error <= question.max_error) return choice;
  return {Scheme{},
          {"", 0,
           fmt::format("{} has relative error {:.3g}, over {:.3g}", to_string(choice.scheme), error,
                       question.max_error)}};
}

}  // namespace hot::select
