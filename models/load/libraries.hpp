#pragma once

#include <string>
#include <vector>

namespace hot::models {

/// Loads shared objects, which register their operators as they load; they stay for the rest of the
/// process. Throws UsageError if one doesn't exist, EnvironmentError if it can't be loaded.
void load_libraries(const std::vector<std::string>& paths);

}  // namespace hot::models
