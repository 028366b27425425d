#pragma once

#include <exception>
#include <string>

namespace hot::models {

/// The line of a TorchScript exception that its author wrote: the last "…Error: text" of the
/// interpreter's traceback, without "builtins." and "RuntimeError: ", cut at 300 characters; else
/// the last line.
[[nodiscard]] std::string last_line(const std::exception& error);

/// A line of LibTorch's without the places in its own source, addresses, and the request to report
/// a failed assertion.
[[nodiscard]] std::string without_places(std::string line);

/// Rethrows what a running model threw, for use in a catch block. `doing` completes "the model
/// failed in …". Errors of this project pass as they are; running out of memory becomes an
/// EnvironmentError with the bytes; everything else a ModelError with the model's own last line and
/// the flag that may help.
[[noreturn]] void rethrow_model_error(const std::string& doing);

}  // namespace hot::models
