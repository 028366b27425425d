#include "kernels/device_truth.hpp"

#include <algorithm>

namespace hot::kernels {

std::vector<FormatSupport> format_support(int major, int minor) {
  const int capability = 10 * major + minor;
  const auto from = [capability](int first) {
    return capability >= first ? Support::native : Support::absent;
  };
  const bool int4 = capability >= 75 && capability <= 89;
  return {
      {"tf32", from(80), "tensor cores"},
      {"bf16", from(80), "tensor cores"},
      {"int8", from(72), "tensor cores, cuBLASLt"},
      {"int4",
       int4               ? Support::native
       : capability >= 90 ? Support::emulated
                          : Support::absent,
       int4 ? "tensor cores, CUTLASS" : "stored in 4 bits, unpacked, multiplied as int8"},
      {"fp8", from(89), "tensor cores, cuBLASLt"},
      {"fp4", from(100), "tensor cores"},
  };
}

std::string_view to_string(Support support) {
  switch (support) {
    case Support::native:
      return "native";
    case Support::emulated:
      return "emulated";
    case Support::absent:
      break;
  }
  return "absent";
}

bool may_be_faster(std::string_view format, int major, int minor) {
  const auto all = format_support(major, minor);
  return std::ranges::any_of(all, [&](const FormatSupport& f) {
    return f.format == format && f.support == Support::native;
  });
}

}  // namespace hot::kernels
