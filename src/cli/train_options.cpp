#include <cmath>

#include "cli/options.hpp"

namespace hot::cli {
namespace {

constexpr const char* kTraining = "Training";

/// A finite number; `positive`: over 0, else 0 too.
CLI::Validator finite(bool positive) {
  return {[positive](std::string& text) {
            double value = 0;
            const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
            if (number && (positive ? value > 0 : value >= 0)) return std::string();
            return "'" + text + "' is not a number " + (positive ? "over 0" : "of at least 0");
          },
          "", positive ? "positive" : "not negative"};
}

}  // namespace

void add_train_options(CLI::App& app, Request& request) {
  train::Options& options = request.pipeline.train.emplace();
  app.remove_option(app.get_option("--batches"));  // all of the data is trained on
  app.get_option("--data")->required();
  app.add_option("--plan", request.plan_file, "the plan to train by, as analysis wrote it")
      ->type_name("FILE")
      ->required()
      ->group(kTraining);
  app.add_option("--steps", options.steps, "updates in each run")
      ->check(CLI::Range(1, 1 << 30))
      ->type_name("N")
      ->capture_default_str()
      ->group(kTraining);
  app.add_option("--seeds", options.seeds,
                 "pairs of runs, exact and by the plan; from 2 on there are\nintervals")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N")
      ->capture_default_str()
      ->group(kTraining);
  app.add_option("--optimizer", options.optimizer, "adamw, or sgd with momentum 0.9")
      ->type_name("NAME")
      ->check(CLI::IsMember({"adamw", "sgd"}))
      ->capture_default_str()
      ->group(kTraining);
  app.add_option("--rate", options.rate, "learning rate (default: 0.0001 for adamw, 0.01 for sgd)")
      ->check(finite(true))
      ->type_name("X")
      ->group(kTraining);
  app.add_option("--weight-decay", options.weight_decay, "of all parameters")
      ->check(finite(false))
      ->type_name("X")
      ->capture_default_str()
      ->group(kTraining);
  app.add_option(
         "--hold-out", options.hold_out,
         "share of the minibatches that isn't trained on, for loss and\naccuracy at the end")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("X")
      ->capture_default_str()
      ->group(kTraining);
  app.add_option("--cosines", options.angles,
                 "steps at which the planned gradient is compared with the\nexact one")
      ->check(CLI::Range(0, 1 << 20))
      ->type_name("N")
      ->capture_default_str()
      ->group(kTraining);
}

}  // namespace hot::cli
