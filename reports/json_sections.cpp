#include "reports/json_sections.hpp"

#include "reports/json_gpu.hpp"

namespace hot::reports {

Json tool_json(const Report& report) {
  return {{"name", "hot-analyze"}, {"version", report.environment.tool_version}};
}

Json environment_json(const Environment& e) {
  Json json = {{"device", e.device},
               {"cpu", e.cpu},
               {"threads", e.threads},
               {"torch", e.torch},
               {"cuda", e.cuda},
               {"kernels", e.kernels},
               {"integer_gemm", e.integer_gemm}};
  if (e.gpu) json["gpu"] = gpu_json(*e.gpu);
  return json;
}

Json model_json(const ModelInfo& m) {
  return {{"path", m.path},
          {"sha256", m.sha256},
          {"parameters", m.parameters},
          {"inputs", m.inputs},
          {"inputs_source", m.inputs_source},
          {"loss", m.loss},
          {"batches", m.batches},
          {"seed", m.seed},
          {"notes", m.notes}};
}

Json run_json(const Report& report, JsonNumbers& numbers) {
  return {{"origin", "measured"},
          {"elapsed_seconds", numbers.number(report.elapsed_seconds, "elapsed_seconds")},
          {"peak_memory_bytes", report.peak_memory_bytes},
          {"interrupted", report.interrupted},
          {"metrics", numbers.metrics(report.run, "run")}};
}

}  // namespace hot::reports
