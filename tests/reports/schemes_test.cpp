#include "reports/schemes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/scheme_parts.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;

/// Text with every run of white space as one space, so that wrapping doesn't matter.
std::string flowing(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) result += word + ' ';
  return result;
}

template <typename Table>
void expect_listed(const std::string& text, const Table& table) {
  for (const auto& part : table) {
    EXPECT_THAT(text, HasSubstr(part.name));
    EXPECT_THAT(flowing(text), HasSubstr(part.description));
  }
}

TEST(Schemes, ListsEveryPartAndWhereASchemeIsLegal) {
  const std::string text =
      write_schemes({parse_scheme("had16+int4/row/stochastic"), parse_scheme("none+int8"),
                     parse_scheme("none+int8/column")},
                    {parse_scheme("rht16+nvfp4/stochastic")});
  expect_listed(text, transform_parts());
  expect_listed(text, basis_parts());
  expect_listed(text, format_parts());
  expect_listed(text, granularity_parts());
  expect_listed(text, rounding_parts());
  expect_listed(text, span_parts());
  EXPECT_THAT(text, testing::Not(HasSubstr("Not available")));
  EXPECT_THAT(text, HasSubstr("  had16+int4/row/stochastic  grad_input\n"));
  EXPECT_THAT(text, HasSubstr("  none+int8/tensor/nearest   grad_input, grad_weight\n"));
  EXPECT_THAT(text, HasSubstr("  none+int8/column/nearest   grad_weight\n"));
  EXPECT_THAT(text, HasSubstr("  rht16+nvfp4/stochastic  grad_input, grad_weight; simulated\n"));
}

TEST(Schemes, Fit100Columns) {
  std::istringstream lines(write_schemes({parse_scheme("low1024r1024.sequency+int8/tensor")}, {}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 100U) << line;
}

}  // namespace
}  // namespace hot::reports
