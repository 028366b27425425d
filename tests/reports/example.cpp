#include "example.hpp"

#include <optional>

namespace hot::reports::testing {

Metrics all_metrics() {
  Metrics metrics;
  double value = 0.5;
  for (const MetricInfo& info : metric_infos()) {
    value += 1;
    const int i = static_cast<int>(value);
    const Origin origin = static_cast<Origin>(i % 3);
    metrics.set(info.name, info.unit == "count" || info.unit == "bytes" ? i : value, origin,
                i % 2 == 0 ? std::optional<double>(0.25) : std::nullopt);
  }
  return metrics;
}

namespace {
PathWork work(GemmShape shape) {
  return {{shape}, 1, shape.flops()};
}
}  // namespace

LayerTrace layer(const std::string& name) {
  LayerTrace layer;
  layer.name = name;
  layer.kind = LayerKind::linear;
  layer.op = "aten::linear";
  layer.calls = 1;
  layer.weight_shape = {2304, 768};
  layer.path(Path::forward) = work({1576, 2304, 768, 1});
  layer.path(Path::grad_input) = work({1576, 768, 2304, 1});
  layer.path(Path::grad_weight) = work({2304, 768, 1576, 1});
  layer.saved_activation_bytes = 4'841'472;
  layer.eligible = true;
  return layer;
}

Report full_report() {
  Report report;
  report.environment = {"0.1.0", "cpu", "Some CPU", 2, "2.14.1", "none", "portable", "int_mm"};
  report.model = {"vit.pt",
                  "abc123",
                  86'000'000,
                  "x float32 8x3x224x224",
                  "traced_inputs.pkl",
                  "cross-entropy to labels sampled from the model's own prediction",
                  2,
                  7,
                  {"Half-precision parameters were converted to float32."}};
  Trace& trace = report.trace.emplace();
  trace.layers = {layer("blocks.0.attn.qkv"), layer("blocks.0.attn")};
  trace.layers[0].aliases = {"shared.weight"};
  trace.layers[0].notes = {"It is used in two places."};
  trace.layers[1].kind = LayerKind::matmul;
  trace.layers[1].weight_shape = {};
  trace.layers[1].path(Path::grad_weight) = {};
  trace.layers[1].eligible = false;
  trace.layers[1].reason = "a product of two activations stays exact";
  trace.backward_flops = 11'000'000'000;
  trace.forward_flops = 5'000'000'000;
  trace.saved_bytes = 30'000'000;
  trace.peak_bytes = 60'000'000;
  trace.loss = 2.3;
  trace.step_seconds = 0.25;
  trace.notes = {"The loss reaches every layer."};
  const Scheme input = parse_scheme("had16+int4/row/stochastic");
  const Scheme weight = parse_scheme("low16r8.sequency+int8/tensor/nearest");
  ErrorTable& errors = report.errors.emplace();
  errors.rows = {
      {"blocks.0.attn.qkv", Path::grad_input, input, Execution::native, all_metrics()},
      {"blocks.0.attn.qkv", Path::grad_weight, weight, Execution::simulated, all_metrics()}};
  errors.lqs = {{"blocks.0.attn.qkv", 1.0, 0.4}};
  errors.notes = {"One gradient was compared in part."};
  Plan& plan = report.plan.emplace();
  plan.policy = "auto";
  plan.model.sha256 = report.model.sha256;
  plan.model.parameters = report.model.parameters;
  plan.predicted = all_metrics();
  plan.layers.push_back({"blocks.0.attn.qkv",
                         {2304, 768},
                         input,
                         weight,
                         {"had16+int4/tensor/stochastic", 0.1, "cheapest under relative error 0.1"},
                         {"", 0, "the only one under relative error 0.1"}});
  Verification& verification = report.verification.emplace();
  verification.outcome = Outcome::passed;
  verification.layers.push_back({"blocks.0.attn.qkv", Outcome::passed, "", 2, 2, all_metrics()});
  verification.total = all_metrics();
  verification.notes = {"The exact run was repeated three times."};
  report.run.set("run_to_step_ratio", 50, Origin::measured);
  report.run.set("run_to_step_memory", 1.25, Origin::measured);
  report.elapsed_seconds = 12.5;
  report.peak_memory_bytes = 900'000'000;
  return report;
}

Profile full_profile() {
  Profile profile;
  TimeProfile time;
  time.layers = {{"blocks.0.attn.qkv", true, {1, 2, 3}, 0.5, {10, 10, 10}, {5, 5, 5}}};
  time.forward_ops = {{"aten::gelu", 0.1, 12, 1000}};
  time.backward_ops = {{"GeluBackward0", 0.2, 12, 2000}};
  profile.time = TimeComparison{all_metrics(), {}, time, time};
  MemoryProfile memory;
  memory.peak_bytes = memory.allocator_peak_bytes = 100;
  memory.peak_place = {"backward", "blocks.0.attn.qkv", "AddmmBackward0"};
  memory.pieces = {{MemoryUse::saved, "blocks.0.attn.qkv", "float32 8x8", 60, {"head"}}};
  memory.saved = {{"blocks.0.attn.qkv", 60, 1, 60, 60}};
  memory.timeline = {{0.5, {1, 2, 3, 4, 5, 6, 7}}};
  profile.memory = MemoryComparison{10, 1, "adamw", 20, memory, memory, 60, 8, "the new peak"};
  profile.batches = BatchSweep{{{2, 1, 100, 90, ""}, {64, 0, 0, 0, "not enough memory"}},
                               LineFit{1, 2, 0.1},
                               LineFit{10, 20, 0.1},
                               std::nullopt,
                               1000};
  profile.target = TargetModel{{"a100", 1, 2, 0, 3, 4, "data sheet"}, 5, 6, -0.5, 7, false};
  return profile;
}

std::vector<Report> reports_of_every_stage() {
  std::vector<Report> reports(5, full_report());
  reports[3].verification.reset();
  for (std::size_t i : {0U, 1U, 2U}) reports[i].verification.reset();
  for (std::size_t i : {0U, 1U, 2U}) reports[i].plan.reset();
  for (std::size_t i : {0U, 1U}) reports[i].errors.reset();
  reports[0].trace.reset();
  reports[0].interrupted = true;
  return reports;
}

}  // namespace hot::reports::testing
