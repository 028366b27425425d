#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hot::reports {

using Json = nlohmann::ordered_json;  ///< keys stay in the order in which they were written

/// JSON text for programs and people: an array or object stands on one line where it fits into 100
/// columns, else one entry a line. Bytes that are no UTF-8 become U+FFFD. Ends in a newline.
[[nodiscard]] std::string json_text(const Json& value);

}  // namespace hot::reports
