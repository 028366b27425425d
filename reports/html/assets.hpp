#pragma once

#include <string_view>

namespace hot::reports {

/// The HTML report's own style and script, from reports/html/*.css and *.js at build time.
extern const std::string_view kHtmlStyle;
extern const std::string_view kHtmlScript;

}  // namespace hot::reports
