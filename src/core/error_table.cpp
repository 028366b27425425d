#include "core/error_table.hpp"

#include <algorithm>

namespace hot {

const char* to_string(Execution execution) {
  return execution == Execution::native ? "native" : "simulated";
}

const char* to_string(OutlierSide side) {
  switch (side) {
    case OutlierSide::rows:
      return "rows";
    case OutlierSide::columns:
      return "columns";
    case OutlierSide::none:
      break;
  }
  return "none";
}

const ErrorRow* ErrorTable::find(const std::string& layer, Path path, const Scheme& scheme) const {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const ErrorRow& r) {
    return r.path == path && r.scheme == scheme && r.layer == layer;
  });
  return row == rows.end() ? nullptr : &*row;
}

const Metric* ErrorTable::fact(const std::string& layer, std::string_view name) const {
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [&](const LayerFacts& f) { return f.layer == layer; });
  return found == facts.end() ? nullptr : found->metrics.find(name);
}

}  // namespace hot
