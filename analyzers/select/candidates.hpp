#pragma once

#include <string>
#include <vector>

#include "analyzers/select/select.hpp"
#include "analyzers/select/solver.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"

namespace hot::select {

/// One gradient of one layer with everything that it may be computed by; exact comes first.
struct Gradient {
  const LayerTrace* layer = nullptr;
  Path path = Path::grad_input;
  std::string only_exact;  ///< why nothing but exact is allowed; empty where there is a choice
  std::vector<Scheme> schemes;
  std::vector<double> errors;   ///< relative error of each scheme
  std::vector<Option> options;  ///< run parallel to schemes
  Origin time_origin = Origin::measured;
};

/// The plan as a problem for the solver: gradients run parallel to problem.groups.
struct WholePlan {
  std::vector<Gradient> gradients;
  Problem problem;
  Totals exact;  ///< of the plan that changes nothing
};

/// What a verified plan taught: factors on what was predicted.
struct Correction {
  double error = 1;        ///< whole gradient: measured / predicted relative error
  double input_error = 1;  ///< beyond that, of what grad_input's schemes cause
  double extra_bytes = 0;  ///< measured − predicted
  double time = 1;         ///< of all schemes
  struct Layer {
    std::string name;
    double time = 1;  ///< of its schemes: measured in the model / measured alone
  };
  std::vector<Layer> layers;
};

/// Options from measured errors, shares, times and bytes (ErrorTable). Where the table lacks a
/// time, it is modelled_cost() of the exact one; where it lacks the shares, each gradient counts by
/// its FLOPs. Simulated schemes are left out unless options.simulated. Options that another one
/// beats in everything are left out, unless they are of the method presets.
[[nodiscard]] WholePlan whole_plan(const Trace& trace, const ErrorTable& errors,
                                   const Options& options, const Correction& correction);

}  // namespace hot::select
