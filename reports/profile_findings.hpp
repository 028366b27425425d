#pragma once

#include <vector>

#include "reports/key_findings.hpp"

namespace hot::reports {

/// What matters of timed and observed steps (`profile`), the most important first; empty where no
/// step was timed.
[[nodiscard]] std::vector<KeyFinding> profile_findings(const Report& report);

}  // namespace hot::reports
