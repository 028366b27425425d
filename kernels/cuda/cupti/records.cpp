#include "kernels/cuda/cupti/records.hpp"

namespace hot::kernels {
namespace {

const char* copy_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "copy host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "copy device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "copy device to device";
    default:
      return "copy";
  }
}

template <class Record>
const Record& as(const CUpti_Activity& record) {
  return *reinterpret_cast<const Record*>(&record);
}

}  // namespace

void ActivityRecords::add(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& link = as<CUpti_ActivityExternalCorrelation>(record);
      if (link.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)  // not another tool's
        external_[link.correlationId] = link.externalId;
      return;
    }
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(as<CUpti_ActivityKernel10>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(as<CUpti_ActivityMemcpy6>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_set(as<CUpti_ActivityMemset4>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return add_memory(as<CUpti_ActivityMemory4>(record));
    default:
      return;
  }
}

void ActivityRecords::add_kernel(const CUpti_ActivityKernel10& r) {
  Activity a;
  a.kind = Activity::Kind::kernel;
  a.name = r.name == nullptr ? "" : r.name;
  a.start_ns = r.start;
  a.end_ns = r.end;
  a.grid = {r.gridX, r.gridY, r.gridZ};
  a.block = {r.blockX, r.blockY, r.blockZ};
  a.registers = r.registersPerThread;
  a.shared_bytes = std::int64_t{r.staticSharedMemory} + r.dynamicSharedMemory;
  a.local_bytes = r.localMemoryPerThread;
  pending_.push_back({std::move(a), r.correlationId});
}

void ActivityRecords::add_copy(const CUpti_ActivityMemcpy6& r) {
  Activity a;
  a.kind = Activity::Kind::copy;
  a.name = copy_name(r.copyKind);
  a.start_ns = r.start;
  a.end_ns = r.end;
  a.bytes = static_cast<std::int64_t>(r.bytes);
  pending_.push_back({std::move(a), r.correlationId});
}

void ActivityRecords::add_set(const CUpti_ActivityMemset4& r) {
  Activity a;
  a.kind = Activity::Kind::set;
  a.name = "set memory";
  a.start_ns = r.start;
  a.end_ns = r.end;
  a.bytes = static_cast<std::int64_t>(r.bytes);
  pending_.push_back({std::move(a), r.correlationId});
}

void ActivityRecords::add_memory(const CUpti_ActivityMemory4& r) {
  Activity a;
  const bool taken = r.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  const bool given = r.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  if (!taken && !given) return;
  a.kind = taken ? Activity::Kind::allocation : Activity::Kind::release;
  a.name = taken ? "allocate" : "release";
  a.start_ns = a.end_ns = r.timestamp;
  a.bytes = static_cast<std::int64_t>(r.bytes);
  pending_.push_back({std::move(a), r.correlationId});
}

std::vector<Activity> ActivityRecords::take() {
  std::vector<Activity> all;
  all.reserve(pending_.size());
  for (Pending& p : pending_) {
    const auto found = external_.find(p.correlation);
    if (found != external_.end()) p.activity.external = found->second;
    all.push_back(std::move(p.activity));
  }
  pending_.clear();
  external_.clear();
  return all;
}

}  // namespace hot::kernels
