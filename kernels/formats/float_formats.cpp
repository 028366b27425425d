#include <algorithm>
#include <array>

#include "kernels/formats/float_format.hpp"

namespace hot::kernels {

const FloatFormat* find_float_format(Format format) {
  static const std::array table = {fp8e4m3(), fp8e5m2(), mxfp8(), mxfp4(), nvfp4(), luq4()};
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& f) { return f.value == format; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace hot::kernels
