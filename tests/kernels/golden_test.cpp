#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/errors.hpp"
#include "kernels/check/golden_check.hpp"

namespace hot::kernels {
namespace {

const std::string kGolden = HOT_SOURCE_DIR "/tests/golden/";

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string temporary(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

class GoldenFileTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenFileTest, EveryCaseIsWithinTheTolerance) {
  const std::vector<Deviation> deviations = check_golden(read_golden(kGolden + GetParam()));
  EXPECT_FALSE(deviations.empty());
  for (const Deviation& d : deviations)
    EXPECT_TRUE(d.within()) << d.name << ": " << d.largest() << " " << d.comment;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenFileTest,
                         testing::Values("backward_48x32x24.json", "backward_37x20x11.json",
                                         "backward_197x16x24.json", "basis.json"),
                         [](const auto& info) {
                           return info.param.substr(0, info.param.find('.'));
                         });

TEST(GoldenCheck, CoversEveryCaseAndLqs) {
  const auto golden = std::get<GoldenBackward>(read_golden(kGolden + "backward_37x20x11.json"));
  EXPECT_EQ(golden.cases.size(), 80U);
  EXPECT_EQ(check_golden(golden).size(), 81U);
}

// The check can fail: each golden number, moved by more than the tolerance, is found.
TEST(GoldenCheck, FindsNumbersThatAreOff) {
  const auto whole = std::get<GoldenBackward>(read_golden(kGolden + "backward_37x20x11.json"));
  const auto is_within = [](const GoldenBackward& golden) {
    const std::vector<Deviation> all = check_golden(golden);
    return std::ranges::all_of(all, &Deviation::within);
  };
  GoldenBackward golden = whole;
  golden.cases = {whole.cases[3]};
  EXPECT_TRUE(is_within(golden));
  const auto broken = [&](const auto& change) {
    GoldenBackward copy = golden;
    copy.cases[0].result = copy.cases[0].result.clone();
    change(copy);
    return !is_within(copy);
  };
  EXPECT_TRUE(broken([](GoldenBackward& g) {
    const double largest = g.cases[0].result.abs().max().item<double>();
    g.cases[0].result[1][2] += 3e-6 * largest;
  }));
  EXPECT_TRUE(broken([](GoldenBackward& g) { g.cases[0].result[0][0] = NAN; }));
  EXPECT_TRUE(broken([](GoldenBackward& g) { g.cases[0].metrics.relative_error += 3e-6; }));
  EXPECT_TRUE(broken([](GoldenBackward& g) { g.cases[0].metrics.cosine -= 3e-6; }));
  EXPECT_TRUE(broken([](GoldenBackward& g) { g.cases[0].metrics.sqnr_db.reset(); }));
  EXPECT_TRUE(broken([](GoldenBackward& g) { g.cases[0].metrics.max_abs_error *= 1.001; }));
  EXPECT_TRUE(broken([](GoldenBackward& g) { g.lqs->choice = Granularity::tensor; }));
  EXPECT_TRUE(broken([](GoldenBackward& g) { g.lqs->error_row *= 1.001; }));
}

TEST(GoldenCheck, FindsBasisOrdersThatDiffer) {
  auto bases = std::get<std::vector<GoldenBasis>>(read_golden(kGolden + "basis.json"));
  std::swap(bases[0].rows_by_sequency[0], bases[0].rows_by_sequency[1]);
  EXPECT_FALSE(check_golden(bases)[0].within());
  EXPECT_THAT(check_golden(bases)[0].comment, testing::HasSubstr("rows_by_sequency"));
}

struct Broken {
  std::string name, from, to, message;
};

class BrokenFileTest : public testing::TestWithParam<Broken> {};

TEST_P(BrokenFileTest, IsRefusedInOneLineThatNamesThePlace) {
  std::string text = contents(kGolden + "backward_37x20x11.json");
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, GetParam().from.size(), GetParam().to);
  const std::string path = temporary(GetParam().name + ".json", text);
  try {
    (void)read_golden(path);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr(path), testing::HasSubstr(GetParam().message)));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, BrokenFileTest,
    testing::Values(Broken{"key", "\"gy\"", "\"gz\"", "neither a backward file"},
                    Broken{"syntax", "{", "{,", "not JSON"},
                    Broken{"shape", "[37,20]", "[37,21]", "don't fill the shape"},
                    Broken{"missing", "\"gx\"", "\"gq\"", "'gx' is missing"},
                    Broken{"kind", "\"hadamard\"", "\"fourier\"", "'fourier' is not one of"},
                    Broken{"order", "\"order\":16", "\"order\":12", "order"},
                    Broken{"bits", "\"bits\":8", "\"bits\":6", "0, 4 or 8 bits"},
                    Broken{"granularity", "\"granularity\":\"row\"", "\"granularity\":\"column\"",
                           "column"}),
    [](const auto& info) { return info.param.name; });

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

Outcome golden_check(const std::string& arguments, const std::string& environment = "") {
  const std::string name =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string out = name + ".out";
  const std::string err = name + ".err";
  const int status = std::system((environment + " '" HOT_BUILD_DIR "/golden-check' " + arguments +
                                  " >'" + out + "' 2>'" + err + "'")
                                     .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
}

TEST(GoldenCheck, RefusesWhatIsNoGoldenFile) {
  for (const std::string& path : {kGolden + "none.json", kGolden, temporary("empty.json", ""),
                                  temporary("list.json", "[1]"), temporary("object.json", "{}")})
    EXPECT_THROW((void)read_golden(path), ModelError) << path;
}

TEST(GoldenCheckProgram, PassesTheGoldenFilesByEveryRoute) {
  for (const char* environment : {"HOT_INT_GEMM=int_mm", "HOT_CPU=portable HOT_INT_GEMM=float32"}) {
    const Outcome run =
        golden_check(kGolden + "backward_48x32x24.json " + kGolden + "basis.json", environment);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, testing::HasSubstr("81 of 81 within 2e-06"));
    EXPECT_EQ(run.err, "");
  }
}

TEST(GoldenCheckProgram, ExitCodesTellWhatWasWrong) {
  std::string text = contents(kGolden + "basis.json");
  text.replace(text.find("[0,3,1,2]"), 9, "[0,3,2,1]");
  const Outcome differs = golden_check("'" + temporary("differs.json", text) + "'");
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_THAT(differs.out, testing::HasSubstr("OUTSIDE"));
  EXPECT_EQ(golden_check("").exit_code, 2);
  EXPECT_EQ(golden_check(kGolden + "basis.json", "HOT_CPU=vax").exit_code, 2);
  const Outcome missing = golden_check(kGolden + "none.json");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, testing::HasSubstr(kGolden + "none.json"));
  EXPECT_EQ(std::ranges::count(missing.err, '\n'), 1) << missing.err;
}

}  // namespace
}  // namespace hot::kernels
