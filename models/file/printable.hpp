#pragma once

#include <string>
#include <string_view>

namespace hot::models {

/// Text from a file, fit for one line of a message or a JSON string: control characters and bytes
/// that are no UTF-8 become
/// '?', and what is longer than 200 bytes is cut.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace hot::models
