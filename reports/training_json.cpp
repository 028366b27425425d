#include <fmt/format.h>

#include "reports/json_numbers.hpp"
#include "reports/json_sections.hpp"
#include "reports/training_formats.hpp"
#include "reports/training_text.hpp"

namespace hot::reports {
namespace {

Json curve_json(const TrainingCurve& curve, const std::string& place, JsonNumbers& numbers) {
  Json losses = Json::array();
  for (std::size_t i = 0; i < curve.losses.size(); ++i)
    losses.push_back(numbers.number(curve.losses[i], fmt::format("{} loss of step {}", place, i)));
  Json json = {{"losses", std::move(losses)}, {"step_seconds", curve.step_seconds}};
  if (curve.held_out_loss)
    json["held_out_loss"] = numbers.number(*curve.held_out_loss, place + " held-out loss");
  if (curve.accuracy) json["accuracy"] = *curve.accuracy;
  return json;
}

Json pair_json(const TrainingPair& pair, JsonNumbers& numbers) {
  const std::string place = fmt::format("seed {},", pair.seed);
  Json angles = Json::array();
  for (const TrainingAngle& angle : pair.angles) {
    angles.push_back(
        {{"step", angle.step},
         {"gradient_cosine",
          numbers.number(angle.cosine, fmt::format("{} cosine of step {}", place, angle.step))}});
  }
  return {{"seed", pair.seed},
          {"exact", curve_json(pair.exact, place + " exact:", numbers)},
          {"plan", curve_json(pair.plan, place + " planned:", numbers)},
          {"gradient_cosines", std::move(angles)}};
}

}  // namespace

std::string write_training_json(const Report& report, const Style&) {
  const Training& training = report.training.value();
  JsonNumbers numbers;
  Json pairs = Json::array();
  for (const TrainingPair& pair : training.pairs) pairs.push_back(pair_json(pair, numbers));
  Json json;
  json["schema"] = "hot-analyze.training.v1";
  json["tool"] = tool_json(report);
  json["run"] = run_json(report, numbers);
  json["environment"] = environment_json(report.environment);
  json["model"] = model_json(report.model);
  json["training"] = {{"origin", "measured"},
                      {"verdict", training_verdict(training).word},
                      {"steps", training.steps},
                      {"training_batches", training.training_batches},
                      {"held_out_batches", training.held_out_batches},
                      {"optimizer", training.optimizer},
                      {"total", numbers.metrics(training.total, "training total")},
                      {"pairs", std::move(pairs)},
                      {"notes", training.notes}};
  json["metrics"] = metric_legend();
  json["notes"] = numbers.notes();
  return json_text(json);
}

}  // namespace hot::reports
