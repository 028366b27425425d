#include "reports/table.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "reports/text.hpp"

namespace hot::reports {
namespace {

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, columns(line));
  return widest;
}

TEST(Table, AlignsAndEndsLinesWithoutSpaces) {
  Table table({{"name"}, {"value", Table::Align::right}, {"note"}});
  table.row({"a", "1.5", "first"});
  table.row({"long name", "12.25"});
  table.remark("why it is so");
  EXPECT_EQ(table.text({}),
            "name       value  note\n"
            "a            1.5  first\n"
            "long name  12.25\n"
            "    why it is so\n");
}

TEST(Table, NeverExceedsTheWidthWhateverTheCells) {
  for (const std::size_t width : {60U, 73U, 100U, 140U}) {
    Table table({{"layer", Table::Align::left, true}, {"kind"}, {"m"}, {"n"}, {"k"}, {"scheme"}});
    table.row(std::vector<std::string>(6, std::string(70, 'x')));
    table.remark(std::string(300, 'y') + " and some words");
    EXPECT_LE(widest_line(table.text({width, false})), width);
  }
}

TEST(Table, ElasticColumnsGiveWayFirst) {
  Table table({{"layer", Table::Align::left, true}, {"scheme"}});
  table.row({std::string(90, 'n'), std::string(40, 's')});
  const std::string text = table.text({100, false});
  EXPECT_NE(text.find(std::string(40, 's')), std::string::npos);
  EXPECT_EQ(widest_line(text), 100U);
}

TEST(Table, WrappedCellsLoseNothing) {
  Table table({{"name"}, {"meaning", Table::Align::left, true, true}});
  table.row({"a", "one two three four five six seven eight nine ten eleven twelve thirteen"});
  table.row({"b", "short"});
  EXPECT_EQ(table.text({60, false}),
            "name  meaning\n"
            "a     one two three four five six seven eight nine ten\n"
            "      eleven twelve thirteen\n"
            "b     short\n");
}

TEST(Table, ColoursOnlyWhereTheStyleShowsThem) {
  Table table({{"layer"}});
  table.row({"a\x1b[31m"});
  EXPECT_EQ(table.text({100, false}).find('\x1b'), std::string::npos);
  EXPECT_NE(table.text({100, true}).find("\x1b[1mlayer"), std::string::npos);
}

}  // namespace
}  // namespace hot::reports
