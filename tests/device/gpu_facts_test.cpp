// What is said of a GPU: its driver's words, and the truth about formats.
#include "gpu_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/select/cost.hpp"
#include "kernels/gpu_state.hpp"

namespace hot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kFake = HOT_FAKE_NVML;

TEST(GpuState, IsWhatTheDriverTells) {
  const auto state = kernels::gpu_state("0000:1b:00.0", kFake);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->sm_mhz, 1410);
  EXPECT_EQ(state->memory_mhz, 3201);
  EXPECT_EQ(state->celsius, 77);
  EXPECT_THAT(state->throttled, ElementsAre("power limit", "thermal limit (hardware)"));
  EXPECT_EQ(kernels::driver_version(kFake), "580.65.06");
}

TEST(GpuState, IsNothingWithoutTheLibraryOrTheDevice) {
  EXPECT_FALSE(kernels::gpu_state("0000:1b:00.0", "libno-such-library.so"));
  EXPECT_FALSE(kernels::gpu_state("0000:00:00.0", kFake));
  EXPECT_EQ(kernels::driver_version("libno-such-library.so"), "");
  EXPECT_THAT(kernels::throttle_reasons(0x3), IsEmpty());  // idle, and clocks that were set
}

kernels::CudaDevice device(int major, int minor) {
  kernels::CudaDevice d;
  d.name = "GPU";
  d.major = major;
  d.minor = minor;
  return d;
}

TEST(GpuFacts, AnEmulatedFormatIsNamedInTheNoteAndANativeOneIsNot) {
  const GpuFacts hopper = gpu_facts(device(9, 0), "13.0");
  EXPECT_EQ(hopper.capability, "9.0");
  EXPECT_THAT(emulation_note(hopper), HasSubstr("no speed for int4"));
  EXPECT_THAT(emulation_note(hopper), Not(HasSubstr("int8:")));
  const GpuFacts ampere = gpu_facts(device(8, 0), "13.0");
  EXPECT_EQ(emulation_note(ampere), "");
  for (const FormatFact& f : ampere.formats)
    if (f.format == "fp8") {
      EXPECT_EQ(f.support, "absent");
    }
}

/// A plan's modelled time is its cost: where INT4 runs as INT8, it costs no less than INT8.
TEST(GpuFacts, NoSpeedIsModelledForAnEmulatedInstruction) {
  PathWork work;
  work.gemms = {{1024, 1024, 1024}};
  const Scheme int4 = parse_scheme("none+int4/tensor/nearest");
  const Scheme int8 = parse_scheme("none+int8/tensor/nearest");
  EXPECT_LT(select::modelled_cost(int4, work), select::modelled_cost(int8, work));
  {
    const select::EmulatedFormats emulated(emulated_formats(gpu_facts(device(9, 0), "13.0")));
    EXPECT_EQ(select::modelled_cost(int4, work), select::modelled_cost(int8, work));
  }
  {
    const select::EmulatedFormats emulated(emulated_formats(gpu_facts(device(8, 6), "13.0")));
    EXPECT_LT(select::modelled_cost(int4, work), select::modelled_cost(int8, work));
  }
  EXPECT_LT(select::modelled_cost(int4, work), select::modelled_cost(int8, work));
}

}  // namespace
}  // namespace hot
