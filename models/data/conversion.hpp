#pragma once

#include <torch/script.h>

#include <optional>
#include <string>
#include <vector>

#include "models/inputs/input_spec.hpp"

namespace hot::models {

/// What a model expects of one array.
struct Expected {
  std::string dtype;                ///< a name of spec_dtypes(), or empty where nothing is known
  std::optional<ValueRange> range;  ///< integers that an embedding takes
  std::vector<double> mean, std;    ///< per channel, for uint8 images; empty without
};

/// `array` as the model expects it, where nothing is lost by that: integers and booleans to floats
/// or wider integers, half and double precision to float32, uint8 images by mean and std. Adds a
/// sentence to `notes` for every change. `what` names file and array. Throws ModelError for other
/// types, NaN, and integers outside the range.
[[nodiscard]] at::Tensor convert(at::Tensor array, const Expected& expected,
                                 const std::string& what, std::vector<std::string>* notes);

/// Labels as losses take them: integers as int64 without a trailing dimension of 1, floats as
/// float32.
[[nodiscard]] at::Tensor convert_labels(at::Tensor labels, const std::string& what);

}  // namespace hot::models
