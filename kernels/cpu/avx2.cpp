#include "kernels/cpu/backends.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

// What the loops include comes first: only functions of this file may hold AVX2 instructions, never
// an inline function of a header that the linker could share with the rest of the program. The
// compiler itself never fuses (-ffp-contract=off): it would change the floats.
#include "kernels/cpu/loops_includes.hpp"

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define HOT_VECTOR_FLOATS 8
#include "kernels/cpu/loops.hpp"
namespace hot::kernels {
namespace {
constexpr Ops kOps = loops_compiled_as("avx2");
}
}  // namespace hot::kernels
#pragma GCC pop_options

namespace hot::kernels {

const Ops* avx2_backend() {
  const bool usable = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return usable ? &kOps : nullptr;
}

}  // namespace hot::kernels

#else

namespace hot::kernels {

const Ops* avx2_backend() {
  return nullptr;
}

}  // namespace hot::kernels

#endif
