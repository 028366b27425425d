#include "kernels/cpu/backends.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

// What the loops include comes first: only functions of this file may hold AVX-512 instructions,
// never an inline function of a header that the linker could share with the rest of the program.
// The compiler itself never fuses (-ffp-contract=off): it would change the floats.
#include "kernels/cpu/loops_includes.hpp"

#pragma GCC push_options
#pragma GCC target( \
    "avx2,fma,bmi,bmi2,lzcnt,avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")
#define HOT_VECTOR_FLOATS 16
#include "kernels/cpu/loops.hpp"
namespace hot::kernels {
namespace {
constexpr Ops kOps = loops_compiled_as("avx512");
}
}  // namespace hot::kernels
#pragma GCC pop_options

namespace hot::kernels {

const Ops* avx512_backend() {
  const bool usable =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  return usable ? &kOps : nullptr;
}

}  // namespace hot::kernels

#else

namespace hot::kernels {

const Ops* avx512_backend() {
  return nullptr;
}

}  // namespace hot::kernels

#endif
