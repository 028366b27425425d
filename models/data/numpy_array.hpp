#pragma once

#include <torch/script.h>

#include <string>
#include <string_view>

namespace hot::models {

/// The array in the bytes of a .npy file: format versions 1 to 3, booleans, integers and floats of
/// either byte order, C and Fortran order. `place` names file and array. Throws ModelError for
/// damaged files and for types that torch lacks.
[[nodiscard]] at::Tensor parse_npy(std::string_view bytes, const std::string& place);

}  // namespace hot::models
