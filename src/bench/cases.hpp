#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/options.hpp"

namespace hot::bench {

/// One row of the results: what is measured together.
struct Case {
  std::string name;                     ///< "layers/vit_b_16/qkv/b8", "kernels/1576x3072/…"
  std::function<nlohmann::json()> run;  ///< makes its tensors, measures, frees them
};

/// The cases that the options choose, in the order of the tables.
[[nodiscard]] std::vector<Case> cases(const Options& options);

}  // namespace hot::bench
