#pragma once

#include <string>

namespace hot::select {

/// A limit that the user gave: an amount (ms, bytes, relative error), or a multiple of a reference
/// that is known later (exact time, exact bytes, minibatch noise).
struct Budget {
  double value = 0;
  bool relative = false;
  std::string text;  ///< as it was written

  [[nodiscard]] double amount(double reference) const {
    return relative ? value * reference : value;
  }
};

/// "0.1", or "0.5sigma": in units of the minibatch noise. Throws UsageError naming the option.
[[nodiscard]] Budget parse_error_budget(const std::string& text);
/// "80%" of the exact time, "120ms" or "1.5s"; in ms.
[[nodiscard]] Budget parse_time_budget(const std::string& text);
/// "60%" of the exact bytes, or "1.5GB", "200MB", "800kB", "4096B" (powers of 1000).
[[nodiscard]] Budget parse_memory_budget(const std::string& text);

}  // namespace hot::select
