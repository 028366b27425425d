#pragma once

#include <string>
#include <string_view>

#include "reports/json_text.hpp"

namespace hot::reports {

/// `text` as it stands between tags and in quoted attributes: nothing in it is markup. Bytes that
/// are no UTF-8 become U+FFFD.
[[nodiscard]] std::string html_text(std::string_view text);

/// JSON that can stand inside a script element: nothing in it ends that. Bytes that are no UTF-8
/// become U+FFFD.
[[nodiscard]] std::string html_json(const Json& json);

}  // namespace hot::reports
