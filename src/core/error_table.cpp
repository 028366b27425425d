#include "core/error_table.hpp"

#include <algorithm>

namespace hot {

const char* to_string(Execution execution) {
  return execution == Execution::native ? "native" : "simulated";
}

const ErrorRow* ErrorTable::find(const std::string& layer, Path path, const Scheme& scheme) const {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const ErrorRow& r) {
    return r.path == path && r.scheme == scheme && r.layer == layer;
  });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace hot
