#include "reports/schemes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/scheme_parts.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kWidth = 100;

std::string line(std::string_view title, std::string_view name, std::string_view description) {
  return paragraph(fmt::format("  {:<12} {:<22} ", title, name), description, kWidth);
}

template <typename Table>
std::string part_lines(const std::string& title, const Table& table) {
  std::string text;
  for (const auto& part : table)
    text += line(text.empty() ? title : "", part.name, part.description);
  return text;
}

std::string paths(const Scheme& scheme) {
  const bool input = !why_illegal(scheme, Path::grad_input);
  const bool weight = !why_illegal(scheme, Path::grad_weight);
  return fmt::format("{}{}{}", input ? "grad_input" : "", input && weight ? ", " : "",
                     weight ? "grad_weight" : "");
}

}  // namespace

std::string write_schemes(const std::vector<Scheme>& portfolio) {
  std::string text =
      "A scheme is written <transform>[+<format>][/<granularity>[:<other>]][/<rounding>]; exact\n"
      "leaves the gradient as it is. Granularity and rounding are those of gy, <other> is the\n"
      "granularity of W or x.\n\n";
  text += part_lines("transform", transform_parts());
  text += part_lines("basis", basis_parts());
  text += part_lines("format", format_parts());
  text += part_lines("granularity", granularity_parts());
  text += part_lines("rounding", rounding_parts());
  text += "\nNot available yet:\n";
  for (const UnavailablePart& part : unavailable_parts()) {
    text += line(part.part.substr(0, part.part.find(' ')), part.name, part.description);
  }
  text += "\nThe default analysis tries, on the gradients where they are legal:\n";
  std::size_t width = 0;
  for (const Scheme& scheme : portfolio) width = std::max(width, to_string(scheme).size());
  for (const Scheme& scheme : portfolio) {
    text += fmt::format("  {:<{}}  {}\n", to_string(scheme), width, paths(scheme));
  }
  return text;
}

}  // namespace hot::reports
