#include "reports/report_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "reports/json_gpu.hpp"
#include "reports/json_parts.hpp"
#include "reports/plan.hpp"

namespace hot::reports {
namespace {

constexpr std::array kKinds = {LayerKind::linear, LayerKind::conv,      LayerKind::conv_transpose,
                               LayerKind::matmul, LayerKind::attention, LayerKind::recurrent,
                               LayerKind::other};
constexpr std::array kPaths = {Path::grad_input, Path::grad_weight};
constexpr std::array kExecutions = {Execution::native, Execution::simulated};
constexpr std::array kOutcomes = {Outcome::passed,      Outcome::incorrect,  Outcome::slower,
                                  Outcome::unsupported, Outcome::over_limit, Outcome::simulated,
                                  Outcome::not_run};

double number_or_nan(const JsonPart& part) {
  return part.json().is_null() ? std::numeric_limits<double>::quiet_NaN() : part.number();
}

bool read_bool(const JsonPart& part) {
  if (!part.json().is_boolean()) part.refuse("should be true or false");
  return part.json().get<bool>();
}

std::uint64_t read_seed(const JsonPart& part) {
  if (!part.json().is_number_unsigned()) part.refuse("should be an integer of 0 or more");
  return part.json().get<std::uint64_t>();
}

void read_environment(const JsonPart& part, Environment& e) {
  part.expect_keys({"device", "cpu", "threads", "torch", "cuda", "kernels", "integer_gemm"},
                   {"gpu"});
  e.device = part.at("device").text();
  e.cpu = part.at("cpu").text();
  e.threads = static_cast<int>(part.at("threads").integer());
  e.torch = part.at("torch").text();
  e.cuda = part.at("cuda").text();
  e.kernels = part.at("kernels").text();
  e.integer_gemm = part.at("integer_gemm").text();
  if (part.has("gpu")) e.gpu = read_gpu(part.at("gpu"));
}

ModelInfo read_model(const JsonPart& part) {
  part.expect_keys({"path", "sha256", "parameters", "inputs", "inputs_source", "loss", "batches",
                    "seed", "notes"});
  return {part.at("path").text(),
          part.at("sha256").text(),
          part.at("parameters").integer(),
          part.at("inputs").text(),
          part.at("inputs_source").text(),
          part.at("loss").text(),
          static_cast<int>(part.at("batches").integer()),
          read_seed(part.at("seed")),
          read_texts(part.at("notes"))};
}

PathWork read_work(const JsonPart& part) {
  part.expect_keys({"calls", "flops", "shapes"});
  PathWork work{{}, part.at("calls").integer(), part.at("flops").integer()};
  const JsonPart shapes = part.at("shapes");
  for (std::size_t i = 0; i < shapes.array_size(); ++i) {
    const JsonPart shape = shapes.at(i);
    shape.expect_keys({"m", "n", "k", "batch"});
    work.gemms.push_back({shape.at("m").integer(), shape.at("n").integer(), shape.at("k").integer(),
                          shape.at("batch").integer()});
  }
  return work;
}

LayerTrace read_layer(const JsonPart& part) {
  part.expect_keys({"name", "aliases", "kind", "op", "calls", "weight_shape", "gemms",
                    "saved_activation_bytes", "eligible", "reason", "notes"});
  LayerTrace layer;
  layer.name = part.at("name").text();
  layer.aliases = read_texts(part.at("aliases"));
  layer.kind = read_name(part.at("kind"), kKinds);
  layer.op = part.at("op").text();
  layer.calls = static_cast<int>(part.at("calls").integer());
  layer.weight_shape = read_shape(part.at("weight_shape"));
  const JsonPart gemms = part.at("gemms");
  gemms.expect_keys({"forward", "grad_input", "grad_weight"});
  for (const Path path : {Path::forward, Path::grad_input, Path::grad_weight}) {
    layer.path(path) = read_work(gemms.at(to_string(path)));
  }
  layer.saved_activation_bytes = part.at("saved_activation_bytes").integer();
  layer.eligible = read_bool(part.at("eligible"));
  layer.reason = part.at("reason").text();
  layer.notes = read_texts(part.at("notes"));
  return layer;
}

Trace read_trace(const JsonPart& part) {
  part.expect_keys({"origin", "loss", "step_seconds", "forward_flops", "backward_flops",
                    "saved_bytes", "peak_bytes", "layers", "notes"});
  Trace trace;
  trace.loss = number_or_nan(part.at("loss"));
  trace.step_seconds = number_or_nan(part.at("step_seconds"));
  trace.forward_flops = part.at("forward_flops").integer();
  trace.backward_flops = part.at("backward_flops").integer();
  trace.saved_bytes = part.at("saved_bytes").integer();
  trace.peak_bytes = part.at("peak_bytes").integer();
  const JsonPart layers = part.at("layers");
  for (std::size_t i = 0; i < layers.array_size(); ++i) {
    trace.layers.push_back(read_layer(layers.at(i)));
  }
  trace.notes = read_texts(part.at("notes"));
  return trace;
}

ErrorRow read_error(const JsonPart& part, std::vector<std::string>& unknown) {
  part.expect_keys({"name", "path", "scheme", "execution", "metrics"});
  const Path path = read_name(part.at("path"), kPaths);
  return {part.at("name").text(), path, read_scheme(part.at("scheme"), path),
          read_name(part.at("execution"), kExecutions), read_metrics(part.at("metrics"), &unknown)};
}

void read_facts(const JsonPart& part, ErrorTable& errors, std::vector<std::string>& unknown) {
  for (std::size_t i = 0; part.has("facts") && i < part.at("facts").array_size(); ++i) {
    const JsonPart facts = part.at("facts").at(i);
    facts.expect_keys({"name", "metrics"}, {"operands"});
    errors.facts.push_back({facts.at("name").text(), read_metrics(facts.at("metrics"), &unknown)});
  }
  for (std::size_t i = 0; part.has("activations") && i < part.at("activations").array_size(); ++i) {
    const JsonPart kept = part.at("activations").at(i);
    kept.expect_keys({"origin", "bytes", "layers", "held_by_others"});
    errors.activations.push_back({kept.at("bytes").integer(), read_texts(kept.at("layers")),
                                  read_bool(kept.at("held_by_others"))});
  }
}

ErrorTable read_errors(const JsonPart& part, std::vector<std::string>& unknown) {
  part.expect_keys({"layers", "lqs", "notes"}, {"facts", "activations", "whole"});
  ErrorTable errors;
  if (part.has("whole")) errors.whole = read_metrics(part.at("whole"), &unknown);
  read_facts(part, errors, unknown);
  const JsonPart layers = part.at("layers");
  for (std::size_t i = 0; i < layers.array_size(); ++i) {
    errors.rows.push_back(read_error(layers.at(i), unknown));
  }
  const JsonPart lqs = part.at("lqs");
  for (std::size_t i = 0; i < lqs.array_size(); ++i) {
    const JsonPart choice = lqs.at(i);
    choice.expect_keys({"name", "origin", "error_tensor", "error_row", "choice"});
    errors.lqs.push_back({choice.at("name").text(), number_or_nan(choice.at("error_tensor")),
                          number_or_nan(choice.at("error_row"))});
  }
  errors.notes = read_texts(part.at("notes"));
  return errors;
}

Verification read_verification(const JsonPart& part, std::vector<std::string>& unknown) {
  part.expect_keys({"outcome", "reason", "layers", "total", "notes"});
  Verification verification;
  verification.outcome = read_name(part.at("outcome"), kOutcomes);
  verification.reason = part.at("reason").text();
  const JsonPart layers = part.at("layers");
  for (std::size_t i = 0; i < layers.array_size(); ++i) {
    const JsonPart layer = layers.at(i);
    layer.expect_keys({"name", "outcome", "reason", "kernel_calls", "expected_calls", "metrics"});
    verification.layers.push_back(
        {layer.at("name").text(), read_name(layer.at("outcome"), kOutcomes),
         layer.at("reason").text(), layer.at("kernel_calls").integer(),
         layer.at("expected_calls").integer(), read_metrics(layer.at("metrics"), &unknown)});
  }
  verification.total = read_metrics(part.at("total"), &unknown);
  verification.notes = read_texts(part.at("notes"));
  return verification;
}

void read_run(const JsonPart& part, Report& report, std::vector<std::string>& unknown) {
  part.expect_keys({"origin", "elapsed_seconds", "peak_memory_bytes", "interrupted"}, {"metrics"});
  report.elapsed_seconds = number_or_nan(part.at("elapsed_seconds"));
  report.peak_memory_bytes = part.at("peak_memory_bytes").integer();
  report.interrupted = read_bool(part.at("interrupted"));
  if (part.has("metrics")) report.run = read_metrics(part.at("metrics"), &unknown);
}

Plan read_plan_of_report(const JsonPart& part, const ModelInfo& model,
                         std::vector<std::string>& unknown) {
  part.expect_keys({"policy", "layers", "predicted"}, {"front", "notes", "gpu"});
  Plan plan{part.at("policy").text(),
            {model.sha256, model.parameters},
            read_plan_layers(part.at("layers")),
            read_metrics(part.at("predicted"), &unknown)};
  read_plan_extras(part, plan);
  return plan;
}

std::string schema_of(const JsonPart& root) {
  if (!root.json().is_object()) root.refuse("should be an object");
  if (!root.has("schema")) {
    root.refuse(fmt::format("the key 'schema' is missing; a report has '{}' there", kReportSchema));
  }
  return root.at("schema").text();
}

Report read_root(const JsonPart& root) {
  root.expect_keys({"schema", "tool", "run", "environment", "model", "metrics", "notes"},
                   {"trace", "errors", "plan", "verification", "profile", "device", "findings"});
  Report report;
  std::vector<std::string> unknown;
  const JsonPart tool = root.at("tool");
  tool.expect_keys({"name", "version"});
  read_environment(root.at("environment"), report.environment);
  report.environment.tool_version = tool.at("version").text();
  report.model = read_model(root.at("model"));
  read_run(root.at("run"), report, unknown);
  if (root.has("trace")) report.trace = read_trace(root.at("trace"));
  if (root.has("errors")) report.errors = read_errors(root.at("errors"), unknown);
  if (root.has("plan")) report.plan = read_plan_of_report(root.at("plan"), report.model, unknown);
  if (root.has("verification")) {
    report.verification = read_verification(root.at("verification"), unknown);
  }
  if (!unknown.empty()) {
    report.model.notes.push_back(fmt::format(
        "Metrics that this version doesn't know were left out: {}.", fmt::join(unknown, ", ")));
  }
  return report;
}

Report report_of(Plan plan) {
  Report report;
  report.model.sha256 = plan.model.sha256;
  report.model.parameters = plan.model.parameters;
  report.plan = std::move(plan);
  return report;
}

}  // namespace

Report read_report(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  const JsonPart root(json, where);
  if (const std::string schema = schema_of(root); schema != kReportSchema) {
    root.at("schema").refuse(
        fmt::format("'{}' is not '{}', the one that this version reads", schema, kReportSchema));
  }
  return read_root(root);
}

Report read_report_or_plan(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  const JsonPart root(json, where);
  const std::string schema = schema_of(root);
  if (schema == kReportSchema) return read_root(root);
  if (schema == kPlanSchema) return report_of(read_plan(text, where));
  root.at("schema").refuse(
      fmt::format("'{}' is neither '{}' nor '{}', those that this version reads", schema,
                  kReportSchema, kPlanSchema));
}

}  // namespace hot::reports
