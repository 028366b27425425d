#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/select/select.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"

namespace hot::select {

/// One gradient of one layer for which a scheme is wanted.
struct Question {
  const LayerTrace& layer;
  Path path = Path::grad_input;
  std::vector<const ErrorRow*>
      rows;                        ///< what was measured for it, illegal schemes and exact left out
  const LqsChoice* lqs = nullptr;  ///< nullptr where LQS was not measured
  double max_error = 0;
  const LayerFacts* facts = nullptr;  ///< of the layer; nullptr where they were not measured
};

struct Choice {
  Scheme scheme;
  Why why;
};

struct Policy {
  std::string_view name;
  std::string_view description;                ///< one line
  Choice (*choose)(const Question& question);  ///< nullptr: the whole plan at once (optimize.hpp)
  bool method = false;                         ///< a uniform method of the papers
};

/// Every policy that Options::policy can name.
[[nodiscard]] const std::vector<Policy>& policies();

/// Their names, in that order.
[[nodiscard]] std::vector<std::string> policy_names();

/// Why a gradient stays exact under every policy: not computed, kept exact, zero, not measured; or
/// empty. `rows` are what was measured for it.
[[nodiscard]] std::string why_only_exact(const LayerTrace& layer, Path path,
                                         const std::vector<const ErrorRow*>& rows,
                                         const Options& options);

/// Upper end of the 95 % interval of the measured relative error; infinite where it isn't a number
/// or wasn't measured.
[[nodiscard]] double largest_error(const ErrorRow& row);

/// The cheapest scheme by modelled_cost() whose largest_error() stays within max_error; exact where
/// none is cheaper. Between equal costs: tensor before row and column, nearest before stochastic,
/// then the smaller error. The runner-up is the next one that costs more.
[[nodiscard]] Choice choose_layerwise(const Question& question);

/// Schemes of `path` that a method could take in any layer; none where `method` names no preset.
[[nodiscard]] std::vector<Scheme> preset_schemes(std::string_view method, Path path);

/// The method's scheme, whatever its error is (methods.md, section 3).
[[nodiscard]] Choice choose_hot(const Question& question);
[[nodiscard]] Choice choose_hlq(const Question& question);
[[nodiscard]] Choice choose_luq(const Question& question);
[[nodiscard]] Choice choose_lbp_wht(const Question& question);
[[nodiscard]] Choice choose_int4(const Question& question);
[[nodiscard]] Choice choose_int8(const Question& question);
[[nodiscard]] Choice choose_nvfp4(const Question& question);

/// AdaHOP: the transform, and outlier extraction beside it where an operand's outliers lie in some
/// indices of the contraction (OperandFacts), which the transform would only spread.
[[nodiscard]] Choice choose_adahop(const Question& question);

/// The scheme of choose_hot() where its measured error stays within max_error, else exact.
[[nodiscard]] Choice choose_lqs(const Question& question);

}  // namespace hot::select
