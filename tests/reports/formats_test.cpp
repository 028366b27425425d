#include "reports/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "core/errors.hpp"
#include "example.hpp"

namespace hot::reports {
namespace {

TEST(Formats, EveryOneIsFoundByNameAndExplained) {
  std::set<std::string_view> names;
  std::set<std::string_view> options;
  for (const Format& f : formats()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    if (!f.option.empty()) {
      EXPECT_TRUE(options.insert(f.option).second) << f.option;
    }
    EXPECT_FALSE(f.description.empty()) << f.name;
    EXPECT_EQ(&format(f.name), &f);
  }
  try {
    (void)format("xml");
    FAIL();
  } catch (const UsageError& error) {
    for (const Format& f : formats()) EXPECT_THAT(error.what(), ::testing::HasSubstr(f.name));
  }
}

// A run may end after any stage, or be interrupted before the first: each format says so or
// declines beforehand.
TEST(Formats, EveryOneWritesWhatEveryStageLeaves) {
  for (const Report& report : testing::reports_of_every_stage()) {
    for (const Format& f : formats()) {
      if (!f.can_write(report)) {
        EXPECT_THROW((void)f.write(report, {}), std::logic_error) << f.name;
        continue;
      }
      const std::string text = f.write(report, {});
      ASSERT_FALSE(text.empty()) << f.name;
      EXPECT_EQ(text.back(), '\n') << f.name;
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << f.name;
    }
  }
}

}  // namespace
}  // namespace hot::reports
