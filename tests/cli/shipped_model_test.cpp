// The whole way on the model that the repository ships, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/process.hpp"

namespace hot::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> shipped_and(std::vector<std::string> more) {
  std::vector<std::string> arguments = shipped_arguments();
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// For memory: whether anything of so small a model is faster depends on what else the machine does.
TEST(ShippedModel, GoesToAVerifiedPlan) {
  const TemporaryFolder folder;
  const Finished run = hot_analyze(shipped_and(
      {"--minimize", "memory", "--json", folder / "r.json", "--plan", folder / "p.json", "--html",
       folder / "r.html", "--csv", folder / "r.csv", "--markdown", folder / "r.md"}));
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("passed"));
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"p.json", "r.csv", "r.html", "r.json", "r.md"}))
      << "a temporary file was left behind";
  EXPECT_THAT(read_file(folder / "r.html"), testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(read_file(folder / "r.md"), testing::StartsWith("### ✅ hot-analyze: PASSED"));
  EXPECT_THAT(read_file(folder / "r.csv"), testing::StartsWith("layer,kind,path,scheme,picked,"));

  const json report = json::parse(read_file(folder / "r.json"));
  EXPECT_EQ(report.at("schema"), "hot-analyze.report.v1");
  EXPECT_EQ(report.at("verification").at("outcome"), "passed");
  const json& metrics = report.at("run").at("metrics");
  const auto value = [&](const char* name) { return metrics.at(name).at("value").get<double>(); };
  EXPECT_GT(value("run_to_step_ratio"), 1);
  EXPECT_EQ(value("run_peak_bytes"), report.at("run").at("peak_memory_bytes").get<double>());
  EXPECT_EQ(value("run_to_step_memory"), value("run_peak_bytes") / value("step_peak_bytes"));
  EXPECT_GE(value("run_to_step_memory"), 1);
  const json plan = json::parse(read_file(folder / "p.json"));
  EXPECT_EQ(plan.at("schema"), "hot-analyze.plan.v1");
  EXPECT_FALSE(plan.at("layers").empty());

  // The plan that was written is a plan that can be verified.
  std::vector<std::string> again = shipped_and({"--plan", folder / "p.json"});
  again.insert(again.begin(), "verify");
  const Finished verified = hot_analyze(again);
  EXPECT_EQ(verified.exit_code, 0) << verified.err << verified.out;
}

class EveryPolicy : public testing::TestWithParam<const char*> {};

TEST_P(EveryPolicy, GoesToAVerification) {
  const TemporaryFolder folder;
  const Finished run = hot_analyze(shipped_and(
      {"--policy", GetParam(), "--batches", "1", "--repeats", "1", "--json", folder / "r.json"}));
  ASSERT_THAT(run.exit_code, testing::AnyOf(0, 1)) << run.err << run.out;  // 1: slower than exact
  const json report = json::parse(read_file(folder / "r.json"));
  EXPECT_EQ(report.at("plan").at("policy"), GetParam());
  EXPECT_LT(report.at("verification").at("total").at("self_check").at("value"), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(ShippedModel, EveryPolicy,
                         testing::Values("auto", "layerwise", "lqs", "hot", "hlq", "lbp-wht", "luq",
                                         "int4", "int8", "nvfp4", "adahop"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ShippedModel, PlanForAnotherModelNamesTheLayer) {
  const TemporaryFolder folder;
  ASSERT_EQ(
      hot_analyze(shipped_and({"--stop-after", "select", "--plan", folder / "p.json"})).exit_code,
      0);
  json plan = json::parse(read_file(folder / "p.json"));
  plan["layers"][0]["name"] = "no.such.layer";
  write_file(folder / "p.json", plan.dump());
  std::vector<std::string> arguments = shipped_and({"--plan", folder / "p.json"});
  arguments.insert(arguments.begin(), "verify");
  const Finished run = hot_analyze(arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("no.such.layer"));
}

TEST(ShippedModel, JsonOnStandardOutputIsNothingButJson) {
  const Finished run = hot_analyze(shipped_and({"--stop-after", "trace", "--json", "-"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out).at("schema"), "hot-analyze.report.v1");
  EXPECT_THAT(run.err, testing::Not(testing::IsEmpty())) << "the table goes to standard error";
}

// What the kernel counts as a process's largest size includes what it was before its program
// started: a copy of whoever launched it.
TEST(ShippedModel, PeakMemoryIsNotTheLaunchers) {
  const std::string large(std::size_t{900} << 20, 'x');
  const Finished run = hot_analyze({"inspect", shipped_model(), "--json", "-"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(run.out);
  EXPECT_GT(report.at("run").at("peak_memory_bytes").get<std::size_t>(), 10'000'000);
  EXPECT_LT(report.at("run").at("peak_memory_bytes").get<std::size_t>(), large.size());
}

TEST(ShippedModel, QuietSaysNothing) {
  const Finished run = hot_analyze(shipped_and({"--stop-after", "trace", "--quiet"}));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "");
}

TEST(ShippedModel, NothingButTheTableOnPipedStreams) {
  const Finished run = hot_analyze(shipped_and({"--stop-after", "trace"}));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, testing::Not(HasSubstr("\x1b")));
}

TEST(ShippedModel, InspectListsEveryLayer) {
  const Finished run = hot_analyze({"inspect", shipped_model()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("grad"));
}

TEST(ShippedModel, SchemesNarrowWhatIsMeasured) {
  const Finished run = hot_analyze(shipped_and(
      {"--stop-after", "measure", "--schemes", "none+int8/tensor/nearest", "--json", "-"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(run.out);
  ASSERT_FALSE(report.at("errors").at("layers").empty());
  for (const json& row : report.at("errors").at("layers"))
    EXPECT_EQ(row.at("scheme"), "none+int8/tensor/nearest");
}

TEST(ShippedModel, FullDiskIsExitCode4) {
  const Finished run = hot_analyze(shipped_and({"--stop-after", "trace", "--json", "/dev/full"}));
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.err, HasSubstr("cannot write /dev/full: No space left on device"));
}

TEST(ShippedModel, InterruptKeepsThePartialReport) {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.while_running = [](pid_t child) {
    EXPECT_TRUE(wait_until_it_catches(SIGINT, child));
    std::this_thread::sleep_for(std::chrono::seconds(2));
    kill(child, SIGINT);
  };
  // More repeats than end in that time.
  const Finished run = hot_analyze(
      shipped_and({"--batches", "4", "--repeats", "2000", "--json", folder / "r.json"}), options);
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
  const json report = json::parse(read_file(folder / "r.json"));
  EXPECT_EQ(report.at("run").at("interrupted"), true);
}

}  // namespace
}  // namespace hot::test
