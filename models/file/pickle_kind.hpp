#pragma once

#include <string_view>

#include "models/file/sniff.hpp"

namespace hot::models {

/// Tells what torch.save wrote from the start of its pickle, which is scanned and never executed: a
/// state_dict, a checkpoint, a tensor, or objects of classes that only Python has.
[[nodiscard]] Finding identify_pickle(std::string_view pickle);

}  // namespace hot::models
