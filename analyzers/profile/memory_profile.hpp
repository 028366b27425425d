#pragma once

#include "analyzers/profile/memory_log.hpp"
#include "core/profile.hpp"

namespace hot::profile {

/// What an ended log amounts to: peak, who holds it, timeline. `saved` as the log gave it between
/// forward and backward; `optimizer_bytes` live all the time and are part of no event.
[[nodiscard]] MemoryProfile summarise(const MemoryLog& log, const std::vector<SavedStorage>& saved);

/// Why the plan's peak falls by less (or more) than its saved bytes: what makes both peaks.
[[nodiscard]] std::string explain_peaks(const MemoryProfile& exact, const MemoryProfile& plan);

}  // namespace hot::profile
