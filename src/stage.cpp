#include "stage.hpp"

#include <fmt/format.h>

#include <array>

#include "core/errors.hpp"

namespace hot {
namespace {

constexpr std::array<const char*, 4> kNames = {"trace", "measure", "select", "verify"};

}  // namespace

const char* to_string(Stage stage) {
  return kNames.at(static_cast<std::size_t>(stage));
}

std::vector<std::string> stage_names() {
  return {kNames.begin(), kNames.end()};
}

Stage parse_stage(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Stage>(i);
  throw UsageError(
      fmt::format("there is no stage '{}'; the stages are {}", name, fmt::join(kNames, ", ")));
}

}  // namespace hot
