#pragma once

#include <cstdint>

#include "core/scheme.hpp"

namespace hot::backward {

/// How the backward pass of one layer is to run.
struct LayerSchemes {
  Scheme grad_input;
  Scheme grad_weight;
};

/// What really happened in a replaced layer.
struct LayerRuns {
  std::int64_t grad_input =
      0;  ///< times grad_input ran through the scheme (or exactly, where the scheme is exact)
  std::int64_t grad_weight = 0;
  double forward_seconds = 0;     ///< preparing x for backward, measured
  double grad_input_seconds = 0;  ///< in its product, transforms included, measured; what prepares
                                  ///< gy for both paths counts half for each
  double grad_weight_seconds = 0;
  double kernel_deviation =
      0;  ///< largest |kernel − double| / largest |double| on checked rows, 0 without checks
};

}  // namespace hot::backward
