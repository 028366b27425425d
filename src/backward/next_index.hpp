#pragma once

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <vector>

namespace hot::backward {

/// The next index of a grid, last dimension fastest; false after the last one.
inline bool next_index(std::vector<std::int64_t>& index, at::IntArrayRef sizes) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace hot::backward
