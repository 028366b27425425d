#pragma once

#include <string>

namespace hot::cli {

/// `text` as a gzip file. Throws EnvironmentError where zlib can't.
[[nodiscard]] std::string gzip(const std::string& text);

}  // namespace hot::cli
