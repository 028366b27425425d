#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/profile.hpp"
#include "reports/perfetto.hpp"
#include "reports/profile_parts.hpp"
#include "reports/target_reader.hpp"

namespace hot {
namespace {

TEST(LineFit, LargestBatchIsTheLastThatFits) {
  const LineFit fit{100, 10, 0};
  EXPECT_EQ(fit.largest(100), 0);
  EXPECT_EQ(fit.largest(149), 4);
  EXPECT_EQ(fit.largest(150), 5);
  EXPECT_EQ(fit.largest(50), 0);
  EXPECT_EQ((LineFit{100, 10, 0.1}.largest(165)), 5);
  EXPECT_EQ((LineFit{100, 10, 0.1}.largest(164)), 4);
  EXPECT_EQ((LineFit{100, 0, 0}.largest(1e9)), 0);
}

// 100 FLOP in 1 s over 10 bytes; the machine: 1000 FLOP/s, 20 bytes/s: memory allows 200 FLOP/s.
TEST(Roofline, TheLowerCeilingCounts) {
  LayerTimes layer;
  layer.seconds = {0.5, 0.25, 0.25};
  layer.flops = {40, 30, 30};
  layer.bytes = {4, 3, 3};
  Metrics metrics;
  metrics.set("gemm_flops_per_second", 1000, Origin::measured);
  metrics.set("copy_bytes_per_second", 20, Origin::measured);
  const auto line = reports::roofline(layer, metrics);
  EXPECT_TRUE(line.memory_bound);
  EXPECT_DOUBLE_EQ(line.ceiling, 200);
  EXPECT_DOUBLE_EQ(line.share(), 0.5);
}

TEST(Target, FilesAreReadAndFaultsNamed) {
  const auto rates = reports::read_target(
      R"({"name": "x", "source": "y", "float32_flops": 1e12, "int8_ops": 4e12,
          "bytes_per_second": 1e11, "memory_bytes": 8e9})",
      "x.json");
  EXPECT_EQ(rates.int4_ops, 0);
  EXPECT_EQ(rates.bytes_per_second, 1e11);
  try {
    static_cast<void>(reports::read_target(R"({"name": "x", "source": "y"})", "x.json"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("x.json: \"float32_flops\" is missing"),
              std::string::npos)
        << error.what();
  }
}

TEST(Perfetto, NamesAreQuoted) {
  StepTrace step;
  step.slices = {{"a \"b\"\\", "layer", "forward", 0, 1, 0, true}};
  step.memory = {{0, 5}};
  const std::string text = reports::write_perfetto(step);
  EXPECT_NE(text.find(R"("a \"b\"\\")"), std::string::npos);
  EXPECT_NE(text.find(R"("bytes":5)"), std::string::npos);
}

}  // namespace
}  // namespace hot
