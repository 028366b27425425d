#include "reports/csv.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "example.hpp"

namespace hot::reports {
namespace {

using Cells = std::vector<std::string>;

/// Reads what RFC 4180 describes, written without looking at the writer.
std::vector<Cells> parsed(const std::string& text) {
  std::vector<Cells> lines;
  Cells line(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        line.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        line.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      line.emplace_back();
    } else if (c == '\n') {
      lines.push_back(line);
      line.assign(1, "");
    } else {
      line.back() += c;
    }
  }
  return lines;
}

/// Rows as maps from column name to cell.
std::vector<std::map<std::string, std::string>> rows(const Report& report) {
  const std::vector<Cells> lines = parsed(write_csv(report));
  std::vector<std::map<std::string, std::string>> result;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].size(), lines[0].size());
    for (std::size_t c = 0; c < lines[0].size(); ++c) {
      if (c == 0) result.emplace_back();
      result.back()[lines[0][c]] = lines[i][c];
    }
  }
  return result;
}

TEST(Csv, CellsReadBackAsTheyWere) {
  const Cells cells = {"plain", "a,b", "say \"no\"", "two\nlines", ""};
  EXPECT_EQ(parsed(csv_line(cells)), std::vector<Cells>{cells});
  EXPECT_EQ(csv_line({"a", "b c"}), "a,b c\n");
}

// Two layers: exact on both gradients, one scheme each for the first, then the plan's row of the
// verified layer and of the whole model.
TEST(Csv, HasARowALayerGradientAndScheme) {
  const auto table = rows(testing::full_report());
  Cells seen;
  for (auto row : table) {
    seen.push_back(row["layer"] + ' ' + row["path"] + ' ' + row["scheme"] + ' ' + row["picked"]);
  }
  EXPECT_EQ(seen, (Cells{"blocks.0.attn.qkv grad_input exact no",
                         "blocks.0.attn.qkv grad_input had16+int4/row/stochastic yes",
                         "blocks.0.attn.qkv grad_weight exact no",
                         "blocks.0.attn.qkv grad_weight low16r8.sequency+int8/tensor/nearest yes",
                         "blocks.0.attn.qkv backward plan ", "blocks.0.attn grad_input exact yes",
                         "blocks.0.attn grad_weight exact yes", " backward plan "}));
  EXPECT_EQ(table[5].at("eligible"), "no");
  EXPECT_EQ(table[5].at("reason"), "a product of two activations stays exact");
  EXPECT_EQ(table[3].at("execution"), "simulated");
  EXPECT_EQ(table[3].at("m") + 'x' + table[3].at("n") + 'x' + table[3].at("k"), "2304x768x1576");
}

// The writer knows no metric by name: each stands with value, origin and interval.
TEST(Csv, EveryMetricStandsWithItsOrigin) {
  const auto table = rows(testing::full_report());
  const Metrics metrics = testing::all_metrics();
  for (const std::size_t i : {1U, 4U}) {
    for (const Metric& metric : metrics.all()) {
      const std::string name(metric.info->name);
      EXPECT_EQ(std::stod(table[i].at(name)), metric.value) << name;
      EXPECT_EQ(table[i].at(name + "_origin"), to_string(metric.origin)) << name;
      EXPECT_EQ(table[i].contains(name + "_ci95"), metric.ci95.has_value()) << name;
    }
  }
}

TEST(Csv, TheWholeModelIsTheLastRow) {
  Report report = testing::full_report();
  report.plan->predicted = {};
  report.plan->predicted.set("cost", 0.5, Origin::modelled);
  report.verification->total = {};
  report.verification->total.set("speedup", 2, Origin::measured, 0.25);
  const auto last = rows(report).back();
  EXPECT_EQ(last.at("layer"), "");
  EXPECT_EQ(last.at("outcome"), "passed");
  EXPECT_EQ(last.at("cost") + last.at("cost_origin"), "0.5modelled");
  EXPECT_EQ(last.at("speedup") + last.at("speedup_ci95"), "20.25");
}

TEST(Csv, WithoutAPlanNothingIsPicked) {
  for (auto row : rows(testing::reports_of_every_stage()[2])) EXPECT_EQ(row["picked"], "");
}

}  // namespace
}  // namespace hot::reports
