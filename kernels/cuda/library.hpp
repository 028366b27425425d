#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace hot::kernels {

/// A shared library that is opened when it is first needed, so that a program that runs on the CPU
/// neither loads nor needs it.
class Library {
 public:
  /// Throws std::runtime_error with the loader's words.
  explicit Library(const std::string& name) : handle_(dlopen(name.c_str(), RTLD_NOW)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }

  /// The function called `name`, whose declaration is `like`. Throws std::runtime_error where the
  /// library lacks it.
  template <class Function>
  [[nodiscard]] Function* function(const char* name, Function* /*like*/) const {
    void* found = dlsym(handle_, name);
    if (found == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* handle_;  // never closed: libraries keep threads and device memory
};

}  // namespace hot::kernels
