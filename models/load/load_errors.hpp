#pragma once

#include <string>

namespace hot::models {

/// Rethrows what LibTorch threw while it loaded `path`, for use in a catch block: one line with
/// what was wrong and what to do. Errors of this project pass as they are; running out of memory
/// becomes an EnvironmentError, everything else a ModelError.
[[noreturn]] void rethrow_load_error(const std::string& path);

}  // namespace hot::models
