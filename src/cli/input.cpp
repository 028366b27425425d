#include "cli/input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/errors.hpp"

namespace hot::cli {

std::string read_text(const std::string& what, const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  std::error_code ignored;
  if (!file || std::filesystem::is_directory(path, ignored))
    throw UsageError(fmt::format("{} {}: cannot be read: {}", what, path,
                                 std::strerror(errno == 0 ? EISDIR : errno)));
  return text.str();
}

}  // namespace hot::cli
