// compare and export as processes: they read what an analysis of the shipped model wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/process.hpp"

namespace hot::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// Two analyses, of policies auto and hot, up to the plan.
class Files : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    for (const std::string policy : {"auto", "hot"}) {
      std::vector<std::string> arguments = shipped_arguments();
      for (const std::string& argument :
           {std::string("--quiet"), std::string("--stop-after"), std::string("select"),
            std::string("--policy"), policy, std::string("--json"), path(policy + ".json"),
            std::string("--plan"), path(policy + ".plan.json")}) {
        arguments.push_back(argument);
      }
      const Finished run = hot_analyze(arguments);
      ASSERT_EQ(run.exit_code, 0) << run.err;
    }
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string path(const std::string& name) { return *folder_ / name; }

 private:
  static inline TemporaryFolder* folder_ = nullptr;
};

TEST_F(Files, AReportWithItselfIsTheSame) {
  const Finished run = hot_analyze(
      {"compare", path("auto.json"), path("auto.json"), "--fail-on", "worse,picks>0,error>0%"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, StartsWith("SAME\n"));
  EXPECT_EQ(run.err, "");
}

TEST_F(Files, ReportsAndPlansOfOneRunAreTheSame) {
  const Finished run =
      hot_analyze({"compare", path("auto.json"), path("auto.plan.json"), "--fail-on", "picks>0"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(Files, AConditionThatIsMetIsExitCode1) {
  const Finished run = hot_analyze(
      {"compare", path("auto.json"), path("hot.json"), "--fail-on", "memory>0%,error>5%"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("passed: memory>0%"));
  EXPECT_THAT(run.out, HasSubstr("FAILED: error>5%"));
}

TEST_F(Files, WithoutConditionsAComparisonIsDone) {
  EXPECT_EQ(hot_analyze({"compare", path("auto.json"), path("hot.json")}).exit_code, 0);
}

TEST_F(Files, AConditionThatCannotBeCheckedIsExitCode2) {
  const Finished run =
      hot_analyze({"compare", path("auto.json"), path("auto.json"), "--fail-on", "speedup<1"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("don't both have speedup, so it can't be checked"));
}

TEST_F(Files, ComparisonsGoToFilesAndStandardOutput) {
  const TemporaryFolder folder;
  const Finished run = hot_analyze({"compare", path("auto.plan.json"), path("hot.plan.json"),
                                    "--json", "-", "--markdown", folder / "c.md"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out).at("schema"), "hot-analyze.comparison.v1");
  EXPECT_THAT(run.err, HasSubstr("changed pick")) << "the table goes to standard error";
  EXPECT_THAT(read_file(folder / "c.md"), StartsWith("### "));
  const Finished onto_itself =
      hot_analyze({"compare", path("auto.json"), path("hot.json"), "--json", path("hot.json")});
  EXPECT_EQ(onto_itself.exit_code, 2);
  EXPECT_THAT(onto_itself.err, HasSubstr("would overwrite B"));
}

TEST_F(Files, WhatIsNeitherReportNorPlanIsExitCode2) {
  const TemporaryFolder folder;
  write_file(folder / "x.json", R"({"schema": "else"})");
  const Finished run = hot_analyze({"compare", folder / "x.json", path("auto.json")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("'else' is neither"));
}

TEST_F(Files, ExportsOfAPlanAndOfItsReportAreTheSame) {
  for (const char* format : {"hot", "torchao", "transformer-engine", "csv"}) {
    const Finished of_plan =
        hot_analyze({"export", "--plan", path("auto.plan.json"), "--format", format});
    const Finished of_report =
        hot_analyze({"export", "--plan", path("auto.json"), "--format", format});
    EXPECT_EQ(of_plan.exit_code, 0) << of_plan.err;
    EXPECT_FALSE(of_plan.out.empty());
    EXPECT_EQ(of_plan.out, of_report.out) << format;
  }
}

// The plan of policy hot has Hadamard transforms and low ranks everywhere: torchao has neither.
TEST_F(Files, WhatCannotBeExpressedIsSaid) {
  const TemporaryFolder folder;
  const Finished run = hot_analyze({"export", "--plan", path("hot.plan.json"), "--format",
                                    "torchao", "--output", folder / "t.json"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("not expressed, stays exact: torchao has no Hadamard transform"));
  const json table = json::parse(read_file(folder / "t.json"));
  EXPECT_TRUE(table.at("layers").empty());
  EXPECT_FALSE(table.at("not_expressed").empty());
}

TEST_F(Files, AnExportDoesNotOverwriteItsPlan) {
  const std::string before = read_file(path("auto.plan.json"));
  const Finished run = hot_analyze({"export", "--plan", path("auto.plan.json"), "--format", "csv",
                                    "--output", path("auto.plan.json")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("would overwrite the plan"));
  EXPECT_EQ(read_file(path("auto.plan.json")), before);
}

}  // namespace
}  // namespace hot::test
