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

const char* OutlierSides::name() const {
  constexpr double kStandsOut = 4;
  if (std::max(row, column) < kStandsOut) return "none";
  return row >= column ? "row-wise" : "column-wise";
}

bool OutlierClasses::along_contraction(Path path) const {
  const std::string_view of_gy = gy.name();
  if (path == Path::grad_input)
    return of_gy == "column-wise" || std::string_view(w.name()) == "row-wise";
  return of_gy == "row-wise" || std::string_view(x.name()) == "row-wise";
}

std::string OutlierClasses::phrase(Path path) const {
  const bool input = path == Path::grad_input;
  return std::string("outliers: gy ") + gy.name() + (input ? ", W " : ", x ") +
         (input ? w : x).name();
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
