// Files, the progress line and the CPU's description, without a process of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "cli/output.hpp"
#include "cli/progress_line.hpp"
#include "core/errors.hpp"
#include "cpu_info.hpp"
#include "plan_match.hpp"
#include "tests/cli/process.hpp"

namespace hot::test {
namespace {

TEST(Output, ReplacesAFileWholeAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_file(folder / "r.json", "old, and longer than the new one");
  cli::Output("--json", folder / "r.json", "m.pt").write("new");
  EXPECT_EQ(read_file(folder / "r.json"), "new");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"r.json"});
}

TEST(Output, HasThePermissionsOfAnOrdinaryNewFile) {
  const TemporaryFolder folder;
  const mode_t mask = umask(0027);
  cli::Output("--json", folder / "r.json", "m.pt").write("x");
  umask(mask);
  struct stat status {};
  ASSERT_EQ(stat((folder / "r.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST(Output, WritesThroughALink) {
  const TemporaryFolder folder;
  write_file(folder / "target.json", "old");
  std::filesystem::create_symlink(folder / "target.json", folder / "link.json");
  cli::Output("--json", folder / "link.json", "m.pt").write("new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
  EXPECT_EQ(read_file(folder / "target.json"), "new");
}

TEST(Output, NeverReplacesADevice) {
  cli::Output("--json", "/dev/null", "m.pt").write("x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Output, OldFileSurvivesAFailedWrite) {
  const TemporaryFolder folder;
  write_file(folder / "r.json", "old");
  const cli::Output output("--json", folder / "r.json", "m.pt");
  std::filesystem::rename(folder.path(), folder.path() + "-moved");
  EXPECT_THROW(output.write("new"), EnvironmentError);
  std::filesystem::rename(folder.path() + "-moved", folder.path());
  EXPECT_EQ(read_file(folder / "r.json"), "old");
}

TEST(ProgressLine, NeverExceedsTheWidth) {
  EXPECT_EQ(cli::ProgressLine::text("measure", 3, 12, "blocks.0.mlp.fc1", 80),
            "measure 3/12 blocks.0.mlp.fc1");
  EXPECT_EQ(cli::ProgressLine::text("measure", 3, 12, "blocks.0.mlp.fc1", 12), "measure 3/12");
  EXPECT_EQ(cli::ProgressLine::text("load", 0, 0, "", 80), "load");
}

TEST(CpuInfo, ReadsBrandAndFeatures) {
  const CpuInfo info = parse_cpuinfo(
      "processor\t: 0\n"
      "model name\t: Example CPU @ 3.0GHz\n"
      "flags\t\t: fpu avx2 avx512f avx512_vnni\n"
      "processor\t: 1\n"
      "model name\t: Another\n");
  EXPECT_EQ(info.brand, "Example CPU @ 3.0GHz");
  EXPECT_THAT(info.features, testing::ElementsAre("AVX2", "AVX-512", "AVX-512 VNNI"));
}

TEST(CpuInfo, SaysUnknownRatherThanNothing) {
  EXPECT_EQ(parse_cpuinfo("").brand, "unknown");
}

Trace one_layer(const std::string& name, std::vector<std::int64_t> shape, bool eligible) {
  Trace trace;
  trace.layers.emplace_back();
  trace.layers[0].name = name;
  trace.layers[0].weight_shape = std::move(shape);
  trace.layers[0].eligible = eligible;
  trace.layers[0].reason = eligible ? "" : "a grouped convolution";
  return trace;
}

Plan plan_for(const std::string& name, std::vector<std::int64_t> shape, const char* scheme) {
  Plan plan;
  plan.layers.emplace_back();
  plan.layers[0].name = name;
  plan.layers[0].weight_shape = std::move(shape);
  plan.layers[0].grad_input = parse_scheme(scheme);
  return plan;
}

std::string refusal(const Plan& plan, const Trace& trace) {
  try {
    check_plan_matches(plan, trace);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PlanMatch, AcceptsItsOwnModelAndLayersThatAreLeftOut) {
  EXPECT_EQ(refusal(plan_for("fc", {4, 8}, "had16+int8"), one_layer("fc", {4, 8}, true)), "");
  EXPECT_EQ(refusal(Plan{}, one_layer("fc", {4, 8}, true)), "");
}

TEST(PlanMatch, NamesTheFirstLayerThatDoesNotMatch) {
  EXPECT_THAT(refusal(plan_for("head", {4, 8}, "exact"), one_layer("fc", {4, 8}, true)),
              testing::HasSubstr("it has layer 'head'"));
  EXPECT_THAT(refusal(plan_for("fc", {4, 9}, "exact"), one_layer("fc", {4, 8}, true)),
              testing::HasSubstr("'fc' is 4x9 in the plan, 4x8 in this model"));
}

TEST(PlanMatch, SaysWhyALayerIsNotEligible) {
  EXPECT_THAT(refusal(plan_for("fc", {4, 8}, "had16+int8"), one_layer("fc", {4, 8}, false)),
              testing::HasSubstr("a grouped convolution"));
  EXPECT_EQ(refusal(plan_for("fc", {4, 8}, "exact"), one_layer("fc", {4, 8}, false)), "");
}

}  // namespace
}  // namespace hot::test
