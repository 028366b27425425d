#include "models/inputs/input_pattern.hpp"

#include <algorithm>

namespace hot::models {

bool has_free_size(const Pattern& pattern) {
  return std::find(pattern.shape.begin(), pattern.shape.end(), kFreeSize) != pattern.shape.end() ||
         std::any_of(pattern.items.begin(), pattern.items.end(), has_free_size);
}

ValueSpec fill(Pattern pattern, std::int64_t batch, std::int64_t size) {
  for (std::int64_t& dimension : pattern.shape) {
    if (dimension == kBatchSize) dimension = batch;
    if (dimension == kFreeSize) dimension = size;
  }
  for (ValueSpec& item : pattern.items) item = fill(std::move(item), batch, size);
  return pattern;
}

}  // namespace hot::models
