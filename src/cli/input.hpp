#pragma once

#include <string>

namespace hot::cli {

/// The text of a file that the user named. Throws UsageError with `what` (the option, or what the
/// file is), the path and the system's reason where it can't be read.
[[nodiscard]] std::string read_text(const std::string& what, const std::string& path);

}  // namespace hot::cli
