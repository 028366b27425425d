#pragma once

#include "core/device_profile.hpp"
#include "reports/json_numbers.hpp"

namespace hot::reports {

/// What a GPU did in a step, as in the schema.
[[nodiscard]] Json device_json(const DeviceProfile& profile, JsonNumbers& numbers);

}  // namespace hot::reports
