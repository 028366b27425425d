#pragma once

#include <string>

namespace hot::models {

/// SHA-256 of a file's content, 64 lower-case hexadecimal digits. Throws ModelError if the file
/// can't be read.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

}  // namespace hot::models
