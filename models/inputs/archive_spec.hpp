#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/inputs/input_spec.hpp"

namespace hot::models {

/// The specification that models/export.py puts inside the archive (models/README.md gives the
/// format).
struct ArchiveSpec {
  std::vector<NamedSpec> inputs;
  std::string task;          ///< "classification" or empty
  std::vector<double> mean;  ///< per channel; empty without
  std::vector<double> std;   ///< per channel; empty without
};

/// Reads the JSON text. Throws ModelError saying which key is wrong.
[[nodiscard]] ArchiveSpec parse_archive_spec(const std::string& text);

/// The specification inside the archive at `path`, or nullopt where it has none (or is no archive).
/// Throws ModelError.
[[nodiscard]] std::optional<ArchiveSpec> read_archive_spec(const std::string& path);

}  // namespace hot::models
