#include "reports/json.hpp"

#include <fmt/format.h>

#include "reports/json_device.hpp"
#include "reports/json_numbers.hpp"
#include "reports/json_plan.hpp"
#include "reports/json_profile.hpp"
#include "reports/json_sections.hpp"
#include "reports/report_reader.hpp"
#include "reports/scheme_findings.hpp"

namespace hot::reports {
namespace {

Json work_json(const PathWork& work) {
  Json shapes = Json::array();
  for (const GemmShape& s : work.gemms) {
    shapes.push_back({{"m", s.m}, {"n", s.n}, {"k", s.k}, {"batch", s.batch}});
  }
  return {{"calls", work.calls}, {"flops", work.flops}, {"shapes", std::move(shapes)}};
}

Json layer_json(const LayerTrace& layer) {
  Json gemms;
  for (const Path path : {Path::forward, Path::grad_input, Path::grad_weight}) {
    gemms[to_string(path)] = work_json(layer.path(path));
  }
  return {{"name", layer.name},
          {"aliases", layer.aliases},
          {"kind", to_string(layer.kind)},
          {"op", layer.op},
          {"calls", layer.calls},
          {"weight_shape", layer.weight_shape},
          {"gemms", std::move(gemms)},
          {"saved_activation_bytes", layer.saved_activation_bytes},
          {"eligible", layer.eligible},
          {"reason", layer.reason},
          {"notes", layer.notes}};
}

Json trace_json(const Trace& trace, JsonNumbers& numbers) {
  Json layers = Json::array();
  for (const LayerTrace& layer : trace.layers) layers.push_back(layer_json(layer));
  return {{"origin", "measured"},
          {"loss", numbers.number(trace.loss, "loss")},
          {"step_seconds", numbers.number(trace.step_seconds, "step_seconds")},
          {"forward_flops", trace.forward_flops},
          {"backward_flops", trace.backward_flops},
          {"saved_bytes", trace.saved_bytes},
          {"peak_bytes", trace.peak_bytes},
          {"layers", std::move(layers)},
          {"notes", trace.notes}};
}

Json operands_json(const std::vector<OperandFacts>& operands) {
  Json all = Json::array();
  for (const OperandFacts& o : operands) {
    all.push_back({{"origin", "measured"},
                   {"path", to_string(o.path)},
                   {"operand", o.operand},
                   {"row_share", o.row_share},
                   {"col_share", o.col_share},
                   {"outliers", to_string(o.side)},
                   {"kurtosis", o.kurtosis},
                   {"kurtosis_had16", o.kurtosis_after}});
  }
  return all;
}

/// What schemes do on this model and device, with the gradients that it is about.
Json findings_json(const Report& report) {
  Json all = Json::array();
  for (const SchemeFinding& finding : scheme_findings(report))
    all.push_back({{"sentence", finding.sentence}, {"gradients", finding.layers}});
  return all;
}

/// What is known of the layers whatever their scheme.
void add_facts(const ErrorTable& errors, Json& json, JsonNumbers& numbers) {
  Json facts = Json::array();
  for (const LayerFacts& f : errors.facts) {
    facts.push_back({{"name", f.layer},
                     {"metrics", numbers.metrics(f.metrics, fmt::format("facts of '{}'", f.layer))},
                     {"operands", operands_json(f.operands)}});
  }
  Json activations = Json::array();
  for (const KeptActivation& a : errors.activations) {
    activations.push_back({{"origin", "measured"},
                           {"bytes", a.bytes},
                           {"layers", a.layers},
                           {"held_by_others", a.held_by_others}});
  }
  json["facts"] = std::move(facts);
  json["activations"] = std::move(activations);
  json["whole"] = numbers.metrics(errors.whole, "errors of the whole gradient");
}

Json errors_json(const ErrorTable& errors, JsonNumbers& numbers) {
  Json layers = Json::array();
  for (const ErrorRow& row : errors.rows) {
    const std::string scheme = to_string(row.scheme);
    const std::string place =
        fmt::format("error of layer '{}' {} {}:", row.layer, to_string(row.path), scheme);
    layers.push_back({{"name", row.layer},
                      {"path", to_string(row.path)},
                      {"scheme", scheme},
                      {"execution", to_string(row.execution)},
                      {"metrics", numbers.metrics(row.metrics, place)}});
  }
  Json lqs = Json::array();
  for (const LqsChoice& choice : errors.lqs) {
    const std::string place = fmt::format("LQS of layer '{}':", choice.layer);
    lqs.push_back({{"name", choice.layer},
                   {"origin", "measured"},
                   {"error_tensor", numbers.number(choice.error_tensor, place + " error_tensor")},
                   {"error_row", numbers.number(choice.error_row, place + " error_row")},
                   {"choice", choice.choice() == Granularity::row ? "row" : "tensor"}});
  }
  Json json = {{"layers", std::move(layers)}, {"lqs", std::move(lqs)}, {"notes", errors.notes}};
  if (!errors.facts.empty()) add_facts(errors, json, numbers);
  return json;
}

Json verification_json(const Verification& verification, JsonNumbers& numbers) {
  Json layers = Json::array();
  for (const LayerVerification& layer : verification.layers) {
    const std::string place = fmt::format("verification of layer '{}':", layer.name);
    layers.push_back({{"name", layer.name},
                      {"outcome", to_string(layer.outcome)},
                      {"reason", layer.reason},
                      {"kernel_calls", layer.kernel_calls},
                      {"expected_calls", layer.expected_calls},
                      {"metrics", numbers.metrics(layer.metrics, place)}});
  }
  return {{"outcome", to_string(verification.outcome)},
          {"reason", verification.reason},
          {"layers", std::move(layers)},
          {"total", numbers.metrics(verification.total, "verification total")},
          {"notes", verification.notes}};
}

}  // namespace

std::string write_json(const Report& report) {
  JsonNumbers numbers;
  Json json;
  json["schema"] = kReportSchema;
  json["tool"] = tool_json(report);
  json["run"] = run_json(report, numbers);
  json["environment"] = environment_json(report.environment);
  json["model"] = model_json(report.model);
  if (report.trace) json["trace"] = trace_json(*report.trace, numbers);
  if (report.errors) json["errors"] = errors_json(*report.errors, numbers);
  if (report.plan) json["plan"] = plan_json(*report.plan, numbers);
  if (report.verification) json["verification"] = verification_json(*report.verification, numbers);
  if (report.profile) json["profile"] = profile_json(*report.profile, numbers);
  if (report.device) json["device"] = device_json(*report.device, numbers);
  json["findings"] = findings_json(report);
  json["metrics"] = metric_legend();
  json["notes"] = numbers.notes();
  return json_text(json);
}

}  // namespace hot::reports
