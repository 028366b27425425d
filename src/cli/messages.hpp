#pragma once

#include <string>

#include "cli/request.hpp"
#include "core/progress.hpp"

namespace hot::cli {

/// Sets spdlog's default logger: to standard error, at the level that the user wants.
void set_up_messages(const MessageOptions& options);

/// A listener that logs when a stage begins, and passes everything on to `next` (which may be
/// empty).
[[nodiscard]] Progress logged(Progress next);

}  // namespace hot::cli
