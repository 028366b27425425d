#pragma once

#include <string>

#include "core/profile.hpp"

namespace hot::reports {

/// A step as Chrome's trace events (JSON), for ui.perfetto.dev or chrome://tracing: a track of
/// layers, one of operations for each thread, a counter of live bytes. Memory is told a few
/// thousand times at most, each time as the highest of its stretch.
[[nodiscard]] std::string write_perfetto(const StepTrace& step);

}  // namespace hot::reports
