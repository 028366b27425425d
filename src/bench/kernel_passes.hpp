#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hot::bench {

/// One pass of a kernel over a matrix, and how many bytes it must read and write in all.
struct Pass {
  std::string name;
  std::int64_t bytes = 0;
  std::function<void()> run;
};

/// The passes of the schemes over a matrix of `rows` × `cols` normal values, by all threads:
/// transform + abs-max, transform + quantize, both together (kernels::prepare), dequantize. A
/// name is "pass transform/along format/granularity rounding". The matrices live as long as the
/// passes.
[[nodiscard]] std::vector<Pass> kernel_passes(std::int64_t rows, std::int64_t cols);

/// A plain copy that reads bytes/2 and writes bytes/2, each thread a part by memcpy.
[[nodiscard]] Pass plain_copy(std::int64_t bytes);

}  // namespace hot::bench
