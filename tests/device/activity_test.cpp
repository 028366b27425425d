// CUPTI's records, made by hand: how they are read, and whose work they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/device/attribution.hpp"
#include "kernels/cuda/cupti/records.hpp"

namespace hot {
namespace {

using kernels::Activity;
using kernels::ActivityRecords;

template <class Record>
void add(ActivityRecords& records, const Record& record) {
  records.add(*reinterpret_cast<const CUpti_Activity*>(&record));
}

CUpti_ActivityKernel10 kernel(const char* name, std::uint32_t correlation, std::uint64_t start,
                              std::uint64_t end) {
  CUpti_ActivityKernel10 k{};
  k.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  k.name = name;
  k.correlationId = correlation;
  k.start = start;
  k.end = end;
  k.gridX = 12;
  k.gridY = 3;
  k.gridZ = 1;
  k.blockX = 256;
  k.blockY = k.blockZ = 1;
  k.registersPerThread = 40;
  k.staticSharedMemory = 1024;
  k.dynamicSharedMemory = 2048;
  return k;
}

CUpti_ActivityExternalCorrelation link(std::uint32_t correlation, std::uint64_t id) {
  CUpti_ActivityExternalCorrelation l{};
  l.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  l.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  l.correlationId = correlation;
  l.externalId = id;
  return l;
}

// The link may come before or behind what it is for; an API record in between says nothing.
TEST(ActivityRecords, KernelsCopiesAndMemoryKeepTheirFactsAndFindTheirIds) {
  ActivityRecords records;
  add(records, kernel("_Z3onev", 7, 100, 250));
  add(records, link(7, 42));
  CUpti_ActivityAPI api{};
  api.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  api.correlationId = 7;
  add(records, api);
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.bytes = 4096;
  copy.start = 10;
  copy.end = 30;
  copy.correlationId = 8;
  add(records, copy);
  CUpti_ActivityMemset4 set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.bytes = 64;
  set.correlationId = 9;
  add(records, set);
  add(records, link(9, 5));
  CUpti_ActivityExternalCorrelation anothers = link(9, 77);  // another tool's
  anothers.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
  add(records, anothers);
  CUpti_ActivityMemory4 memory{};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.bytes = 2 << 20;
  add(records, memory);

  const std::vector<Activity> all = records.take();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].name, "_Z3onev");
  EXPECT_EQ(all[0].external, 42U);
  EXPECT_EQ(all[0].end_ns - all[0].start_ns, 150U);
  EXPECT_THAT(all[0].grid, ::testing::ElementsAre(12, 3, 1));
  EXPECT_THAT(all[0].block, ::testing::ElementsAre(256, 1, 1));
  EXPECT_EQ(all[0].registers, 40);
  EXPECT_EQ(all[0].shared_bytes, 3072);
  EXPECT_EQ(all[1].kind, Activity::Kind::copy);
  EXPECT_EQ(all[1].name, "copy host to device");
  EXPECT_EQ(all[1].bytes, 4096);
  EXPECT_EQ(all[1].external, 0U);
  EXPECT_EQ(all[2].kind, Activity::Kind::set);
  EXPECT_EQ(all[2].external, 5U);
  EXPECT_EQ(all[3].kind, Activity::Kind::allocation);
  EXPECT_EQ(all[3].bytes, 2 << 20);
  EXPECT_TRUE(records.take().empty());
}

Activity work(const char* name, std::uint64_t id, std::uint64_t start, std::uint64_t end) {
  Activity a;
  a.name = name;
  a.external = id;
  a.start_ns = start;
  a.end_ns = end;
  a.grid = {static_cast<int>(end - start), 1, 1};
  return a;
}

TEST(Attribution, SumsByLayerPathAndNameAndCountsOverlapsOnce) {
  const std::map<std::uint64_t, device::Work> works = {{1, {"fc1", "grad_input", "had16+int8"}},
                                                       {2, {"fc1", "grad_weight", ""}}};
  const std::vector<Activity> activities = {
      work("gemm", 1, 0, 1'000'000), work("gemm", 1, 2'000'000, 5'000'000),
      work("gemm", 2, 4'000'000, 6'000'000),  // beside the one before
      work("other", 0, 9'000'000, 10'000'000), work("lost", 77, 9'000'000, 9'500'000)};
  const DeviceStep step = device::attribute(activities, works);
  EXPECT_DOUBLE_EQ(step.busy_ms, 1 + 4 + 1);
  EXPECT_DOUBLE_EQ(step.span_ms, 10);
  ASSERT_EQ(step.work.size(), 4U);
  const DeviceWork& first = step.work.front();
  EXPECT_EQ(first.layer + " " + first.path + " " + first.scheme, "fc1 grad_input had16+int8");
  EXPECT_EQ(first.count, 2);
  EXPECT_DOUBLE_EQ(first.ms, 4);
  EXPECT_DOUBLE_EQ(first.share, 4.0 / 6);
  EXPECT_EQ(first.grid[0], 3'000'000);  // the longest one's
  EXPECT_EQ(step.work[1].path, "grad_weight");
  EXPECT_EQ(step.work[2].layer, "");
}

TEST(Attribution, AllocationsAreBytesNotTime) {
  Activity a;
  a.kind = Activity::Kind::allocation;
  a.bytes = 100;
  const DeviceStep step = device::attribute(std::span(&a, 1), {});
  EXPECT_EQ(step.allocated_bytes, 100);
  EXPECT_TRUE(step.work.empty());
  EXPECT_EQ(step.busy_ms, 0);
}

TEST(Attribution, NamesAreReadable) {
  EXPECT_EQ(device::readable("_Z3oneIiEvT_"), "one<int>(int)");
  EXPECT_EQ(device::readable("sm90_xmma_gemm"), "sm90_xmma_gemm");
  EXPECT_EQ(device::readable(std::string(300, 'x')).size(), 100U);
}

// Without a driver CUPTI doesn't start; the session says why and everything else goes on.
TEST(ActivitySession, WhereItCantRecordItSaysWhy) {
  kernels::ActivitySession session;
  if (session.reason().empty()) GTEST_SKIP() << "CUPTI records here";
  session.push(1);
  session.pop();
  EXPECT_TRUE(session.stop().empty());
}

}  // namespace
}  // namespace hot
