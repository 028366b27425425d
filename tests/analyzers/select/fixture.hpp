#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzers/select/select.hpp"

namespace hot::select::testing {

/// An eligible linear layer of a large size: L = 4096 rows, O = 1024 and I = 2048 channels.
inline LayerTrace linear(const std::string& name, GemmShape grad_input = {4096, 2048, 1024, 1},
                         GemmShape grad_weight = {1024, 2048, 4096, 1}) {
  LayerTrace layer;
  layer.name = name;
  layer.kind = LayerKind::linear;
  layer.calls = 1;
  layer.weight_shape = {grad_weight.m, grad_weight.n};
  layer.path(Path::grad_input) = {{grad_input}, 1, grad_input.flops()};
  layer.path(Path::grad_weight) = {{grad_weight}, 1, grad_weight.flops()};
  layer.eligible = true;
  return layer;
}

inline ErrorRow row(const std::string& layer, Path path, const std::string& scheme, double error,
                    double ci95 = 0) {
  ErrorRow row{layer, path, parse_scheme(scheme), Execution::native, {}};
  row.metrics.set("relative_error", error, Origin::measured, ci95);
  return row;
}

}  // namespace hot::select::testing
