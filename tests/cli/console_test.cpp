// Files, the progress line and the CPU's description, without a process of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/output.hpp"
#include "cli/progress_line.hpp"
#include "core/errors.hpp"
#include "cpu_info.hpp"
#include "plan_match.hpp"
#include "process_memory.hpp"
#include "tests/cli/process.hpp"

namespace hot::test {
namespace {

TEST(Output, ReplacesAFileWholeAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_file(folder / "r.json", "old, and longer than the new one");
  cli::Output("--json", folder / "r.json").write("new");
  EXPECT_EQ(read_file(folder / "r.json"), "new");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"r.json"});
}

TEST(Output, HasThePermissionsOfAnOrdinaryNewFile) {
  const TemporaryFolder folder;
  const mode_t mask = umask(0027);
  cli::Output("--json", folder / "r.json").write("x");
  umask(mask);
  struct stat status {};
  ASSERT_EQ(stat((folder / "r.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST(Output, WritesThroughALink) {
  const TemporaryFolder folder;
  write_file(folder / "target.json", "old");
  std::filesystem::create_symlink(folder / "target.json", folder / "link.json");
  cli::Output("--json", folder / "link.json").write("new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
  EXPECT_EQ(read_file(folder / "target.json"), "new");
}

TEST(Output, NeverReplacesADevice) {
  cli::Output("--json", "/dev/null").write("x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Output, OldFileSurvivesAFailedWrite) {
  const TemporaryFolder folder;
  write_file(folder / "r.json", "old");
  const cli::Output output("--json", folder / "r.json");
  std::filesystem::rename(folder.path(), folder.path() + "-moved");
  EXPECT_THROW(output.write("new"), EnvironmentError);
  std::filesystem::rename(folder.path() + "-moved", folder.path());
  EXPECT_EQ(read_file(folder / "r.json"), "old");
}

TEST(Output, PipesOfTheShellAreWrittenAsTheyAre) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  cli::Output("--json", "/dev/fd/" + std::to_string(ends[1])).write("x");
  char text = 0;
  EXPECT_EQ(read(ends[0], &text, 1), 1);
  EXPECT_EQ(text, 'x');
  EXPECT_TRUE(cli::Output("--json", "/dev/stdout").to_stdout());
}

/// A machine with 5 GiB to give away, one of them swap.
class Memory : public testing::Test {
 protected:
  void SetUp() override {
    put("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapFree: 1048576 kB\n");
  }
  void put(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file(path, text);
  }
  [[nodiscard]] std::int64_t mebibytes() const { return available_memory(folder_.path()) >> 20; }

 private:
  TemporaryFolder folder_;
};

TEST_F(Memory, IsTheMachinesWithoutAGroup) {
  EXPECT_EQ(mebibytes(), 5 << 10);
  put("proc/self/cgroup", "4:cpu:/a\n0::/b\n");
  put("sys/fs/cgroup/b/memory.max", "max\n");
  put("sys/fs/cgroup/b/memory.current", "1000\n");
  EXPECT_EQ(mebibytes(), 5 << 10);
  EXPECT_EQ(available_memory("/no-such-root"), 0);
}

TEST_F(Memory, IsWhatTheProcesssOwnLimitLeaves) {
  put("proc/self/status", "VmSize:\t 3145728 kB\nVmData:\t 1048576 kB\n");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit limit{std::min(before.rlim_max, rlim_t{5} << 30), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_EQ(mebibytes(), 2 << 10);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

TEST_F(Memory, IsTheGroupsWhereThatIsLess) {
  put("proc/self/cgroup", "0::/b\n");
  put("sys/fs/cgroup/b/memory.max", "2147483648\n");
  put("sys/fs/cgroup/b/memory.current", "1610612736\n");
  put("sys/fs/cgroup/b/memory.stat", "anon 1\ninactive_file 536870912\n");
  EXPECT_EQ(mebibytes(), 1024);
}

TEST_F(Memory, ReadsTheFirstVersionAndItsRootInAContainer) {
  put("proc/self/cgroup", "9:name=systemd:/x\n4:memory:/docker/123\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "268435456\n");
  EXPECT_EQ(mebibytes(), 768);
}

TEST_F(Memory, PeakIsWhatThisProcessHad) {
  const std::int64_t before = peak_resident_bytes();
  const std::string large(std::size_t{100} << 20, 'x');
  EXPECT_GE(peak_resident_bytes(), before);
  EXPECT_GT(peak_resident_bytes(), static_cast<std::int64_t>(large.size()));
}

TEST(ProgressLine, TimeLeftIsThePaceSoFar) {
  EXPECT_EQ(cli::ProgressLine::time_left(0, 10, 2), "");
  EXPECT_EQ(cli::ProgressLine::time_left(10, 10, 5), "");
  EXPECT_EQ(cli::ProgressLine::time_left(2, 10, 5), ", about 20 s left");
  EXPECT_EQ(cli::ProgressLine::time_left(1, 10, 60), ", about 9 min left");
  EXPECT_EQ(cli::ProgressLine::time_left(1, 10, 3600), ", about 9.0 h left");
}

TEST(ProgressLine, ALongPartCountsOn) {
  EXPECT_EQ(cli::ProgressLine::time_left(0, 2, 0, 42), ", 42 s so far");
  EXPECT_EQ(cli::ProgressLine::time_left(1, 3, 60, 90), ", about 30 s left");
  EXPECT_EQ(cli::ProgressLine::time_left(1, 3, 60, 121), ", 3 min so far");
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
