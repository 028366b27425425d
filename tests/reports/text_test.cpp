#include "reports/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

namespace hot::reports {
namespace {

TEST(Text, ColumnsCountCodePoints) {
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("é±x"), 3U);
  EXPECT_EQ(columns(""), 0U);
}

TEST(Text, ElisionKeepsBothEndsAndFits) {
  EXPECT_EQ(elided("encoder.layers.11.mlp.fc2", 25), "encoder.layers.11.mlp.fc2");
  EXPECT_EQ(elided("encoder.layers.11.mlp.fc2", 13), "enco...lp.fc2");
  EXPECT_EQ(elided("abcdef", 3), "abc");
  for (std::size_t width = 0; width < 30; ++width) {
    EXPECT_LE(columns(elided("couché.couché.couché.couché", width)), width);
  }
}

// The twelve blocks of a transformer, in a narrow column.
TEST(Text, ElidedApartKeepsWhatTellsLayersApart) {
  std::vector<std::string> layers;
  for (int i = 0; i < 12; ++i)
    layers.push_back("encoder.layers.encoder_layer_" + std::to_string(i) +
                     ".self_attention.in_proj_weight");
  layers.emplace_back("head");
  const std::vector<std::string> shown = elided_apart(layers, 36);
  EXPECT_EQ(std::set<std::string>(shown.begin(), shown.end()).size(), layers.size());
  EXPECT_EQ(shown[11], "...oder_layer_11...on.in_proj_weight");
  EXPECT_EQ(shown.back(), "head");
  for (const std::string& text : shown) EXPECT_LE(columns(text), 36);
  EXPECT_EQ(elided_apart({"encoder.layers.11.mlp.fc2", "a"}, 13)[0], "enco...lp.fc2");
}

TEST(Text, NamesCannotDisturbATerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\td\x7f"), "a?[31mb?c?d?");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31m"),
            "a?31m");
  EXPECT_EQ(printable("couché"), "couché");
}

TEST(Text, WrappingLosesNoWordAndFits) {
  const std::string text = "the quick brown fox jumps over averyveryverylongwordindeed and rests";
  for (std::size_t width = 1; width < 80; ++width) {
    std::string joined;
    for (const std::string& line : wrapped(text, width)) {
      EXPECT_LE(columns(line), width);
      joined += line;
    }
    std::string expected = text;
    std::erase(expected, ' ');
    std::erase(joined, ' ');
    EXPECT_EQ(joined, expected) << width;
  }
}

TEST(Text, ParagraphsIndentTheirFurtherLines) {
  EXPECT_EQ(paragraph("- ", "aa bb cc", 7), "- aa bb\n  cc\n");
  EXPECT_EQ(paragraph("  ", "", 7), "\n");
}

TEST(Text, UnitsInPowersOfTen) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(30'200'000), "30.2 MB");
  EXPECT_EQ(bytes_text(999'600), "1.00 MB");
  EXPECT_EQ(bytes_text(123'400'000'000), "123 GB");
  EXPECT_EQ(flops_text(1.5e9), "1.50 GFLOP");
  EXPECT_EQ(count_text(86'567'656), "86.6 M");
  EXPECT_EQ(count_text(12), "12");
}

TEST(Text, ValuesWithTheirUnits) {
  EXPECT_EQ(value_text(12.345, "ms"), "12.3 ms");
  EXPECT_EQ(value_text(0.04123, ""), "0.0412");
  EXPECT_EQ(value_text(0.0000412, ""), "4.12e-05");
  EXPECT_EQ(value_text(1234.4, "ms"), "1234 ms");
  EXPECT_EQ(value_text(0, "ratio"), "0x");
  EXPECT_EQ(value_text(0.256, "share"), "25.6 %");
  EXPECT_EQ(value_text(4096, "count"), "4096");
  EXPECT_EQ(value_text(2'000'000, "bytes"), "2.00 MB");
  EXPECT_EQ(value_text(std::numeric_limits<double>::quiet_NaN(), "ms"), "not a number");
  EXPECT_EQ(value_text(-std::numeric_limits<double>::infinity(), ""), "-infinite");
}

}  // namespace
}  // namespace hot::reports
