#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/contest.hpp"

namespace hot::bench {

/// What the command line of hot-bench asks for.
struct Options {
  std::string filter = ".";           ///< regular expression, searched in case names
  std::vector<std::int64_t> batches;  ///< samples of a layer's input
  bool quick = false;                 ///< ViT-B/16 and ResNet-50 alone, one matrix for the kernels
  bool list = false;
  int threads = 0;  ///< 0: all that the process may use
  Protocol protocol;
  std::string json = "-";  ///< file of the results; "-": standard output
};

/// Reads the command line; prints help or an error itself and returns the exit code then.
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};
[[nodiscard]] Parsed parse_options(int argc, char** argv);

}  // namespace hot::bench
