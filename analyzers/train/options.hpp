#pragma once

#include <cstdint>
#include <string>

namespace hot::train {

struct Options {
  std::uint64_t seed = 0;           ///< of the first pair of runs; further pairs count on
  int seeds = 3;                    ///< pairs of runs
  int steps = 100;                  ///< updates in each run
  std::string optimizer = "adamw";  ///< adamw | sgd (momentum 0.9)
  double rate = 0;                  ///< learning rate; 0: 1e-4 for adamw, 1e-2 for sgd
  double weight_decay = 0;
  double hold_out = 0.2;  ///< share of the minibatches that isn't trained on
  int angles = 10;        ///< steps at which the planned gradient is compared with the exact one
};

}  // namespace hot::train
