#include <fmt/format.h>

#include <cmath>

#include "reports/csv.hpp"
#include "reports/training_formats.hpp"

namespace hot::reports {
namespace {

/// The shortest text that reads back as the same number; empty where there is none.
std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

}  // namespace

std::string write_training_csv(const Report& report, const Style&) {
  std::string text = csv_line({"seed", "step", "loss_exact", "loss_plan", "gradient_cosine"});
  for (const TrainingPair& pair : report.training.value().pairs) {
    auto angle = pair.angles.begin();
    for (std::size_t step = 0; step < pair.exact.losses.size(); ++step) {
      std::string cosine;
      if (angle != pair.angles.end() && angle->step == static_cast<std::int64_t>(step))
        cosine = number_text((angle++)->cosine);
      text += csv_line({std::to_string(pair.seed), std::to_string(step),
                        number_text(pair.exact.losses[step]), number_text(pair.plan.losses[step]),
                        cosine});
    }
  }
  return text;
}

}  // namespace hot::reports
