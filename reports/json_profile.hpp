#pragma once

#include "core/profile.hpp"
#include "reports/json_numbers.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {

/// The report's section "profile"; parts that didn't run are left out.
[[nodiscard]] Json profile_json(const Profile& profile, JsonNumbers& numbers);

}  // namespace hot::reports
