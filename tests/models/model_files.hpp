#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "models/model.hpp"

namespace hot::models {

/// The models that tests/models/make_files.py wrote; a test that needs one is skipped where Python
/// couldn't.
class ModelFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(path("scripted"))) {
      GTEST_SKIP() << "no model files: run the CTest test make_model_files (needs .venv)";
    }
  }
  static std::string path(const std::string& name) {
    return std::string(HOT_BUILD_DIR) + "/test_files/models/" +
           (name.find('.') == std::string::npos ? name + ".pt" : name);
  }
  static LoadOptions options(const std::string& name) {
    LoadOptions result;
    result.path = path(name);
    return result;
  }
  static Model load(const std::string& name) { return load_model(options(name)); }
};

}  // namespace hot::models
