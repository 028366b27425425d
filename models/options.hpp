#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hot::models {

struct LoadOptions {
  std::string path;
  std::string method = "forward";
  std::vector<std::string>
      libraries;  ///< --load-library: shared objects with custom operators, loaded first
  std::string device = "cpu";  ///< where it is to run, as c10::Device takes it: "cpu", "cuda:0"
};

struct InputOptions {
  std::vector<std::string>
      inputs;  ///< --input, in order, or name=…; e.g. "8x3x224x224", "tokens=int64:8x128:0..30521"
  std::string data;    ///< --data FILE
  std::string labels;  ///< --labels FILE (or the key inside --data)
  int batch = 0;       ///< --batch: size of the first dimension, 0 = as the source says, at least 2
  int batches = 1;     ///< --batches: how many minibatches
  int up_to = 0;       ///< where more: as many as there are samples for, up to this many
  bool whole = false;  ///< all minibatches of --data instead, samples in an order drawn by `seed`
  std::uint64_t seed = 0;
};

}  // namespace hot::models
