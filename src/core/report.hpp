#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device_profile.hpp"
#include "core/error_table.hpp"
#include "core/gpu.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"
#include "core/profile.hpp"
#include "core/training.hpp"
#include "core/verification.hpp"

namespace hot {

struct Environment {
  std::string tool_version;
  std::string device;  ///< "cpu", "cuda:0"
  std::string cpu;     ///< brand string
  int threads = 0;
  std::string torch;
  std::string cuda;               ///< toolkit the binary was built with, or "none"
  std::string kernels;            ///< e.g. "portable"
  std::string integer_gemm;       ///< which library route runs the integer products, and why
  std::optional<GpuFacts> gpu{};  ///< of a run on a GPU
};

struct ModelInfo {
  std::string path;
  std::string sha256;
  std::int64_t parameters = 0;  ///< number of scalars
  std::string inputs;           ///< e.g. "float32 8x3x224x224"
  std::string inputs_source;    ///< "command line", "specification in the archive",
                                ///< "traced_inputs.pkl", "inferred", "data file"
  std::string loss;
  int batches = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> notes;
};

/// Everything a run found out. Stages that did not run are nullopt; every report format prints
/// this.
struct Report {
  Environment environment;
  ModelInfo model;
  std::optional<Trace> trace;
  std::optional<ErrorTable> errors;
  std::optional<Plan> plan;
  std::optional<Verification> verification;
  std::optional<Training> training;     ///< of `train` alone
  std::optional<Profile> profile;       ///< of the analysis: its memory half alone
  std::optional<DeviceProfile> device;  ///< of a run on a GPU: its kernels by layer and path
  std::optional<StepTrace> step;        ///< one observed step, for --trace
  std::string memory_snapshot;          ///< torch's own pickle, for --memory-snapshot
  Metrics run;                          ///< its time and memory beside a plain training step's
  double elapsed_seconds = 0;           ///< measured, whole run
  std::int64_t peak_memory_bytes = 0;   ///< measured, resident set of the process
  bool interrupted = false;
};

}  // namespace hot
