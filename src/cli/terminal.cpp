#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace hot::cli {

std::size_t terminal_width(int descriptor, std::size_t otherwise) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

bool is_terminal(int descriptor) {
  const char* terminal = std::getenv("TERM");
  return isatty(descriptor) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool wants_colour(int descriptor) {
  const char* unwanted = std::getenv("NO_COLOR");
  return is_terminal(descriptor) && (unwanted == nullptr || *unwanted == '\0');
}

}  // namespace hot::cli
