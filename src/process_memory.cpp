#include "process_memory.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace hot {

std::int64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (std::int64_t kibibytes = 0; word == "VmHWM:" && status >> kibibytes)
      return kibibytes * 1024;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace hot
