#pragma once

#include <string_view>
#include <vector>

namespace hot::kernels {

/// How a GPU multiplies a number format: by tensor-core instructions of that format, by others that
/// the compiler puts in their place, or not at all.
enum class Support { native, emulated, absent };

struct FormatSupport {
  std::string_view format;  ///< "int8", "int4", "fp8", "fp4", "bf16", "tf32"
  Support support;
  std::string_view how;  ///< what runs, as a phrase
};

/// What tensor cores of compute capability major.minor do with each format of interest. From the
/// PTX ISA's tables of mma and from the machine code that nvcc 13.0 makes: INT4 instructions exist
/// on sm_80 to sm_89 alone, elsewhere they expand into INT8 ones.
[[nodiscard]] std::vector<FormatSupport> format_support(int major, int minor);

[[nodiscard]] std::string_view to_string(Support support);

/// Whether a product in `format` may be called faster for the format's sake on that GPU: never for
/// an emulated instruction.
[[nodiscard]] bool may_be_faster(std::string_view format, int major, int minor);

}  // namespace hot::kernels
