// What is refused before any model is read: one line on standard error that says what and where to
// look, exit code 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/process.hpp"

namespace hot::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void expect_refused(const Finished& run, int exit_code, const std::string& part) {
  EXPECT_EQ(run.exit_code, exit_code) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("hot-analyze: "));
  EXPECT_THAT(run.err, HasSubstr(part));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

struct Refusal {
  const char* name;
  std::vector<std::string> arguments;
  const char* part;  ///< of the message
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class Usage : public testing::TestWithParam<Refusal> {};

TEST_P(Usage, OneLineAndExitCode2) {
  expect_refused(hot_analyze(GetParam().arguments), 2, GetParam().part);
}

const std::vector<Refusal> kRefusals = {
    {"NoModel", {}, "no model was given: name a TorchScript file"},
    {"InspectWithoutModel", {"inspect"}, "no model was given"},
    {"UnknownCommand",
     {"teach"},
     "no command or file 'teach'; the commands are inspect, profile, verify"},
    {"UnknownCommandWithModel", {"trains", "m.pt"}, "no command or file 'trains'"},
    {"UnknownOption", {"m.pt", "--fast"}, "--fast"},
    {"TwoModels", {"a.pt", "b.pt"}, "b.pt"},
    {"OptionWithoutValue", {"m.pt", "--batch"}, "--batch"},
    {"BatchZero", {"m.pt", "--batch", "0"}, "--batch"},
    {"BatchNoNumber", {"m.pt", "--batch", "many"}, "--batch"},
    {"NegativeSeed", {"m.pt", "--seed", "-1"}, "--seed"},
    {"UnknownLoss", {"m.pt", "--loss", "hinge"}, "hinge"},
    {"UnknownPolicy", {"m.pt", "--policy", "best"}, "best"},
    {"UnknownStage", {"m.pt", "--stop-after", "report"}, "report"},
    {"UnknownDevice", {"m.pt", "--device", "tpu"}, "'tpu' is not auto, cpu, cuda or cuda:INDEX"},
    {"DeviceWithoutIndex", {"m.pt", "--device", "cuda:"}, "'cuda:' is not"},
    {"SnapshotOfTheCpu",
     {"profile", "m.pt", "--device", "cpu", "--memory-snapshot", "s.pickle"},
     "--memory-snapshot is of a GPU's memory"},
    {"SnapshotWithoutProfile", {"m.pt", "--memory-snapshot", "s.pickle"}, "--memory-snapshot"},
    {"MaxErrorZero", {"m.pt", "--max-error", "0"}, "--max-error"},
    {"ThreadsZero", {"m.pt", "--threads", "0"}, "--threads"},
    {"UnknownScheme", {"m.pt", "--schemes", "int9"}, "int9"},
    {"PatternWithoutScheme", {"m.pt", "--schemes", "had65*"}, "no scheme matches 'had65*'"},
    {"VerifyWithoutPlan", {"verify", "m.pt"}, "--plan"},
    {"VerifyWithMissingPlan", {"verify", "m.pt", "--plan", "none.json"}, "none.json"},
    {"PlanBeforeThereIsOne",
     {"m.pt", "--stop-after", "trace", "--plan", "p.json"},
     "ends before select"},
    {"QuietAndVerbose", {"m.pt", "--quiet", "--verbose"}, "--verbose"},
    {"SameFileTwice", {"m.pt", "--json", "-", "--plan", "-"}, "give each its own"},
    {"JsonIsAFolder", {"m.pt", "--json", "/tmp"}, "/tmp is a directory"},
    {"CompareWithoutB", {"compare", "a.json"}, "B is required"},
    {"CompareMissingFile", {"compare", "none.json", "b.json"}, "A none.json: cannot be read"},
    {"CompareUnknownNumber",
     {"compare", "a.json", "b.json", "--fail-on", "beauty>3%"},
     "no number of a whole model is called 'beauty'"},
    {"CompareNoLimit",
     {"compare", "a.json", "b.json", "--fail-on", "error"},
     "it has no limit; write e.g. 'error>5%'"},
    {"ExportWithoutFormat", {"export", "--plan", "p.json"}, "--format is required"},
    {"ExportUnknownFormat",
     {"export", "--plan", "p.json", "--format", "onnx"},
     "onnx not in {hot,torchao,transformer-engine,csv}"},
    {"ExportMissingPlan",
     {"export", "--plan", "none.json", "--format", "hot"},
     "--plan none.json: cannot be read"},
    {"SeedTooLarge", {"m.pt", "--seed", "18446744073709551616"}, "18446744073709551616"},
    {"JsonNameTooLong", {"m.pt", "--json", std::string(300, 'x')}, "too long"},
    {"JsonEmpty", {"m.pt", "--json", ""}, "--json"},
};

INSTANTIATE_TEST_SUITE_P(All, Usage, testing::ValuesIn(kRefusals),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(OutputPath, FolderThatIsMissingIsFoundBeforeTheWork) {
  expect_refused(hot_analyze({"m.pt", "--json", "/tmp/no-such-folder/r.json"}), 4,
                 "the folder /tmp/no-such-folder doesn't exist");
}

TEST(OutputPath, ModelIsNeverOverwritten) {
  const TemporaryFolder folder;
  write_file(folder / "m.pt", "model");
  expect_refused(hot_analyze({folder / "m.pt", "--json", folder / "m.pt"}), 2,
                 "would overwrite the model");
  EXPECT_EQ(read_file(folder / "m.pt"), "model");
}

TEST(OutputPath, NothingThatIsReadIsOverwritten) {
  const TemporaryFolder folder;
  const std::string file = folder / "read";
  write_file(file, "content");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"m.pt", "--data", file},
        {"m.pt", "--data", "d.pt", "--labels", file},
        {"m.pt", "--load-library", file},
        {"verify", "m.pt", "--plan", file}}) {
    std::vector<std::string> whole = arguments;
    whole.insert(whole.end(), {"--json", file});
    expect_refused(hot_analyze(whole), 2, "would overwrite the ");
    EXPECT_EQ(read_file(file), "content");
  }
}

TEST(Model, MissingFileIsExitCode3) {
  expect_refused(hot_analyze({"no-such-model.pt"}), 3, "no-such-model.pt");
}

TEST(Device, CudaWithoutGpuIsExitCode4) {
  const Finished run = hot_analyze({"m.pt", "--device", "cuda"});
  expect_refused(run, 4, "use --device cpu");
}

TEST(Device, MemorySnapshotWithoutGpuIsExitCode4) {
  const Finished run = hot_analyze({"profile", "m.pt", "--memory-snapshot", "s.pickle"});
  expect_refused(run, 4, "--memory-snapshot is of a GPU's memory");
}

TEST(Help, NamesEveryCommandAndOptionGroup) {
  const Finished run = hot_analyze({"--help"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  for (const char* word : {"inspect", "verify", "compare", "export", "schemes", "devices",
                           "--input", "--policy", "--stop-after", "--json", "--plan", "Exit codes"})
    EXPECT_THAT(run.out, HasSubstr(word));
}

TEST(Help, FitsIn100Columns) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"inspect", "--help"},
                                                    {"verify", "--help"},
                                                    {"compare", "--help"},
                                                    {"export", "--help"}}) {
    const Finished run = hot_analyze(arguments);
    EXPECT_EQ(run.exit_code, 0);
    for (std::size_t begin = 0; begin < run.out.size();) {
      const std::size_t end = std::min(run.out.find('\n', begin), run.out.size());
      EXPECT_LE(end - begin, 100U) << run.out.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

TEST(Help, OfACommandIsItsOwn) {
  const Finished run = hot_analyze({"inspect", "--help"});
  EXPECT_THAT(run.out, testing::Not(HasSubstr("--policy")));
  EXPECT_THAT(run.out, HasSubstr("--input"));
}

TEST(Version, IsOneLine) {
  const Finished run = hot_analyze({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, testing::MatchesRegex("hot-analyze [0-9.]+\n"));
}

TEST(Stdout, ClosedEarlyIsExitCode4) {
  ProcessOptions options;
  options.close_stdout = true;
  const Finished run = hot_analyze({"--help"}, options);
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(run.err, "hot-analyze: cannot write standard output: Broken pipe\n");
}

TEST(Facts, SchemesListsTheGrammarAndEveryPreset) {
  const Finished run = hot_analyze({"schemes"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* word : {"had16+int4/row/stochastic", "low16r8", "exact"})
    EXPECT_THAT(run.out, HasSubstr(word));
}

TEST(Facts, DevicesSaysWhatTheCpuHasAndWhyThereIsNoGpu) {
  const Finished run = hot_analyze({"devices"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* word : {"CPU", "cores", "kernels", "int8 GEMM", "LibTorch", "CUDA", "devices"})
    EXPECT_THAT(run.out, HasSubstr(word));
}

}  // namespace
}  // namespace hot::test
