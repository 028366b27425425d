#include "core/metric.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <stdexcept>

namespace hot {
namespace {

TEST(Metric, EveryRowHasAKeyAndOneLine) {
  std::set<std::string_view> names;
  for (const MetricInfo& info : metric_infos()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " stands twice";
    EXPECT_FALSE(info.description.empty()) << info.name;
    EXPECT_EQ(info.description.find('\n'), std::string_view::npos) << info.name;
    for (const char c : info.name) {
      EXPECT_TRUE(std::islower(static_cast<unsigned char>(c)) || std::isdigit(c) || c == '_')
          << info.name;
    }
    EXPECT_EQ(&metric_info(info.name), &info);
  }
}

TEST(Metric, UnknownNamesAreBugs) {
  Metrics metrics;
  EXPECT_THROW((void)metric_info("speed"), std::logic_error);
  EXPECT_THROW(metrics.set("speed", 1, Origin::measured), std::logic_error);
  EXPECT_THROW((void)metrics.value("speedup"), std::logic_error);
}

TEST(Metric, SetReplacesInPlaceAndKeepsOrder) {
  Metrics metrics;
  metrics.set("speedup", 1, Origin::modelled);
  metrics.set("cost", 2, Origin::modelled, 0.5);
  metrics.set("speedup", 3, Origin::measured, 0.25);
  ASSERT_EQ(metrics.all().size(), 2U);
  EXPECT_EQ(metrics.all()[0].info->name, "speedup");
  EXPECT_EQ(metrics.value("speedup"), 3);
  EXPECT_EQ(metrics.find("speedup")->origin, Origin::measured);
  EXPECT_EQ(metrics.find("speedup")->ci95, 0.25);
  EXPECT_EQ(metrics.find("cosine"), nullptr);
}

}  // namespace
}  // namespace hot
