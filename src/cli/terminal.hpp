#pragma once

#include <cstddef>

namespace hot::cli {

/// Columns of the terminal behind a file descriptor; `otherwise` where it is none.
[[nodiscard]] std::size_t terminal_width(int descriptor, std::size_t otherwise);

/// A terminal that understands escape sequences: not TERM=dumb.
[[nodiscard]] bool is_terminal(int descriptor);

/// is_terminal(), and the user has not set NO_COLOR.
[[nodiscard]] bool wants_colour(int descriptor);

}  // namespace hot::cli
