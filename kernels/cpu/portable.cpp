#include "kernels/cpu/backends.hpp"
#define HOT_VECTOR_FLOATS 4
#include "kernels/cpu/loops.hpp"

namespace hot::kernels {

const Ops* portable_backend() {
  static constexpr Ops kOps = loops_compiled_as("portable");
  return &kOps;
}

}  // namespace hot::kernels
