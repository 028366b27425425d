#pragma once

#include <cupti_activity.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernels/activity.hpp"

namespace hot::kernels {

/// Reads CUPTI's activity records, which come in any order: an external id belongs to a call by the
/// call's correlation id, and so does the kernel that it started. Plain host code.
class ActivityRecords {
 public:
  /// Records of other kinds are passed over.
  void add(const CUpti_Activity& record);

  /// All activities with their external ids.
  [[nodiscard]] std::vector<Activity> take();

 private:
  void add_kernel(const CUpti_ActivityKernel10& record);
  void add_copy(const CUpti_ActivityMemcpy6& record);
  void add_set(const CUpti_ActivityMemset4& record);
  void add_memory(const CUpti_ActivityMemory4& record);

  struct Pending {
    Activity activity;
    std::uint32_t correlation;
  };
  std::vector<Pending> pending_;
  std::unordered_map<std::uint32_t, std::uint64_t> external_;  ///< by correlation id
};

}  // namespace hot::kernels
