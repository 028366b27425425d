#pragma once

#include <map>
#include <span>

#include "core/device_profile.hpp"
#include "device/scope.hpp"
#include "kernels/activity.hpp"

namespace hot::device {

/// One step's activities by layer, path and name. `works` says what the external ids stand for; an
/// id of 0, or one that isn't there, is no layer's. Times of work that overlaps are added; busy_ms
/// counts them once.
[[nodiscard]] DeviceStep attribute(std::span<const kernels::Activity> activities,
                                   const std::map<std::uint64_t, Work>& works);

/// A kernel's name without what nobody reads: demangled, template arguments and parameters left out
/// beyond 100 characters.
[[nodiscard]] std::string readable(const std::string& kernel);

}  // namespace hot::device
