#pragma once

#include <string>
#include <string_view>

#include "core/report.hpp"

namespace hot::reports {

/// The report for a pull request, in GitHub's Markdown: verdict, numbers of the whole model, plan
/// (folded, by pair of schemes and then by layer), findings, environment. At most
/// kMarkdownLimit bytes: what doesn't fit is counted.
[[nodiscard]] std::string write_markdown(const Report& report);

/// GitHub takes comments of up to 65,536 characters.
inline constexpr std::size_t kMarkdownLimit = 60'000;

/// `text` as it stands in a Markdown paragraph or table cell: nothing in it can be markup.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// `text` in a code span, e.g. a layer's name or a scheme.
[[nodiscard]] std::string markdown_code(std::string_view text);

}  // namespace hot::reports
