#include "models/load/libraries.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "core/errors.hpp"

namespace hot::models {

void load_libraries(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
      throw UsageError(
          fmt::format("--load-library {}: no such file; give the path of a shared object", path));
    }
    // An absolute name, or dlopen() looks a bare one up in the system's folders.
    if (::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      throw EnvironmentError(fmt::format(
          "--load-library {}: it cannot be loaded: {}; it must be built for this LibTorch", path,
          ::dlerror()));
    }
  }
}

}  // namespace hot::models
