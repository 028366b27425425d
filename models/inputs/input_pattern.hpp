#pragma once

#include <cstdint>
#include <vector>

#include "models/inputs/input_spec.hpp"

namespace hot::models {

/// Sizes that a pattern leaves open, in the place of a tensor's sizes.
constexpr std::int64_t kBatchSize = -1;  ///< the minibatch
constexpr std::int64_t kFreeSize = -2;   ///< length, height, width: to be tried

using Shape = std::vector<std::int64_t>;

/// What an input may look like: a ValueSpec whose sizes may be open.
using Pattern = ValueSpec;

/// True where `pattern` has a kFreeSize.
[[nodiscard]] bool has_free_size(const Pattern& pattern);

/// The pattern with its open sizes filled in.
[[nodiscard]] ValueSpec fill(Pattern pattern, std::int64_t batch, std::int64_t size);

}  // namespace hot::models
