#pragma once

#include <optional>

#include "models/file/archive.hpp"
#include "models/file/sniff.hpp"

namespace hot::models {

/// The folder that holds everything in an archive written by torch: the first record's, as LibTorch
/// finds it; "" without one.
[[nodiscard]] std::string top_folder(const Archive& archive);

/// Tells from the names of its records what a zip archive is; nothing for a TorchScript archive or
/// a torch.package with TorchScript modules in it.
[[nodiscard]] std::optional<Finding> identify_archive(const Archive& archive);

/// The ids of the TorchScript modules inside a torch.package, in order; empty for other archives.
[[nodiscard]] std::vector<std::string> packaged_modules(const Archive& archive);

}  // namespace hot::models
