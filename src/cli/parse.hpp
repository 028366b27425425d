#pragma once

#include <optional>
#include <string>

#include "cli/request.hpp"

namespace hot::cli {

/// What the command line amounts to: a request, or a text (help, version) to print and be done.
struct Parsed {
  std::optional<Request> request;
  std::string text;
};

/// Reads the command line. Throws UsageError with one line that ends in where to look further.
[[nodiscard]] Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace hot::cli
