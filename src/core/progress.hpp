#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace hot {

/// Told by a stage how far it is; the command line draws it on stderr, tests pass nothing.
/// `detail` is what runs now (a layer's name, say). May be empty (no listener).
using Progress = std::function<void(std::string_view stage, std::int64_t done, std::int64_t total,
                                    std::string_view detail)>;

}  // namespace hot
