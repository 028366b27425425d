#include "process_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace hot {
namespace {

/// The number behind the word `key` of a file.
std::optional<std::int64_t> number_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (std::int64_t number = 0; word == key && file >> number) return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// The number that a file consists of.
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The files of one version of control groups, and what calls the part of a group's memory that
/// caches files nobody waits for.
struct Group {
  std::string folder;
  const char* limit;
  const char* usage;
  const char* cache;

  [[nodiscard]] std::optional<std::int64_t> available() const {
    const auto most = number_in(folder + limit);
    const auto used = number_in(folder + usage);
    if (!most || !used) return std::nullopt;
    return *most - *used + number_of(folder + "/memory.stat", cache).value_or(0);
  }
};

Group second_version(const std::string& folder) {
  return {folder, "/memory.max", "/memory.current", "inactive_file"};
}

Group first_version(const std::string& folder) {
  return {folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
}

/// What this process's group may still take. In a container its own folder is the file system's
/// root.
std::optional<std::int64_t> available_in_group(const std::string& root) {
  const std::string second = root + "/sys/fs/cgroup";
  const std::string first = second + "/memory";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    std::istringstream parts(line);
    std::string number, controllers, path;
    std::getline(std::getline(std::getline(parts, number, ':'), controllers, ':'), path);
    if (controllers != "memory" && !controllers.empty()) continue;
    for (const std::string& below : {path, std::string()}) {
      const auto bytes = controllers.empty() ? second_version(second + below).available()
                                             : first_version(first + below).available();
      if (bytes) return bytes;
    }
  }
  return std::nullopt;
}

/// What a limit of this process's own (ulimit) leaves; nothing where there is none.
std::optional<std::int64_t> below_limit(const std::string& root, __rlimit_resource resource,
                                        const char* used) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto kibibytes = number_of(root + "/proc/self/status", used);
  if (!kibibytes) return std::nullopt;
  return static_cast<std::int64_t>(limit.rlim_cur) - *kibibytes * 1024;
}

}  // namespace

std::int64_t peak_resident_bytes() {
  return number_of("/proc/self/status", "VmHWM:").value_or(0) * 1024;
}

std::int64_t available_memory(const std::string& root) {
  const std::string info = root + "/proc/meminfo";
  const auto free = number_of(info, "MemAvailable:");
  if (!free) return 0;
  const std::int64_t machine = (*free + number_of(info, "SwapFree:").value_or(0)) * 1024;
  return std::max<std::int64_t>(
      std::min({machine, available_in_group(root).value_or(machine),
                below_limit(root, RLIMIT_DATA, "VmData:").value_or(machine),
                below_limit(root, RLIMIT_AS, "VmSize:").value_or(machine)}),
      0);
}

}  // namespace hot
