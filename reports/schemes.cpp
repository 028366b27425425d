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

std::string scheme_lines(const std::vector<Scheme>& schemes) {
  std::size_t width = 0;
  for (const Scheme& scheme : schemes) width = std::max(width, to_string(scheme).size());
  std::string text;
  for (const Scheme& scheme : schemes) {
    text += fmt::format("  {:<{}}  {}{}\n", to_string(scheme), width, paths(scheme),
                        is_simulated(scheme) ? "; simulated" : "");
  }
  return text;
}

}  // namespace

std::string write_schemes(const std::vector<Scheme>& portfolio, const std::vector<Scheme>& whole) {
  std::string text =
      "A scheme is written\n"
      "  <transform>[+<format>[:<other>]][/<granularity>[:<other>]][/<rounding>][+oe<k>]\n"
      "exact leaves the gradient as it is. Format, granularity and rounding are those of gy, "
      "<other>\n"
      "is that of W or x. Simulated formats are rounded to their numbers and multiplied in "
      "float32;\n"
      "they are chosen only by a policy or --schemes that names them.\n\n";
  text += part_lines("transform", transform_parts());
  text += part_lines("basis", basis_parts());
  text += part_lines("span", span_parts());
  text += part_lines("format", format_parts());
  text += part_lines("granularity", granularity_parts());
  text += part_lines("rounding", rounding_parts());
  text += line("extraction", "oe<k>",
               "the k indices of the contraction with the largest magnitudes go through a float "
               "product of their own");
  text += "\nThe default analysis tries, on the gradients where they are legal:\n";
  text += scheme_lines(portfolio);
  text +=
      "\n--schemes all tries these too; patterns choose from both, any other scheme is named:\n";
  std::vector<Scheme> others;
  for (const Scheme& scheme : whole)
    if (std::find(portfolio.begin(), portfolio.end(), scheme) == portfolio.end())
      others.push_back(scheme);
  return text + scheme_lines(others);
}

}  // namespace hot::reports
