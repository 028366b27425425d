#include "core/gemm_shape.hpp"

namespace hot {

const char* to_string(Path path) {
  switch (path) {
    case Path::forward:
      return "forward";
    case Path::grad_input:
      return "grad_input";
    case Path::grad_weight:
      return "grad_weight";
  }
  return "?";
}

}  // namespace hot
