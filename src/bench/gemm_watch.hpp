#pragma once

#include <ATen/record_function.h>

namespace hot::bench {

/// Adds up, while it lives, the time of the library's matrix products (aten::_int_mm, aten::mm), on
/// whatever thread they run. One at a time.
class GemmWatch {
 public:
  GemmWatch();
  ~GemmWatch();
  GemmWatch(const GemmWatch&) = delete;
  GemmWatch& operator=(const GemmWatch&) = delete;

  /// Seconds of the wall clock; products that threads run side by side count by their share.
  [[nodiscard]] double seconds() const;
  [[nodiscard]] bool saw_any() const;

 private:
  at::CallbackHandle handle_;
};

}  // namespace hot::bench
