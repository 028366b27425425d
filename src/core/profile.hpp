#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric.hpp"

namespace hot {

/// What a byte is held for. `saved`: kept by the graph for backward; `activation`: made in forward
/// and held by the running model alone; `activation_gradient`: on its way through backward;
/// `workspace`: taken and given back inside one operation.
enum class MemoryUse {
  input,
  saved,
  activation,
  gradient,
  activation_gradient,
  optimizer_state,
  workspace
};
inline constexpr std::size_t kMemoryUses = 7;

[[nodiscard]] std::string_view to_string(MemoryUse use);

using BytesByUse = std::array<std::int64_t, kMemoryUses>;  ///< indexed by MemoryUse

/// Where in a step something happens.
struct StepPlace {
  std::string phase;  ///< "forward", "backward" or "optimizer"
  std::string layer;  ///< or module; empty outside
  std::string op;     ///< operation or backward node
};

/// One piece of memory that was live at the peak.
struct PeakPiece {
  MemoryUse use = MemoryUse::workspace;
  std::string layer;  ///< that made or first saved it
  std::string what;   ///< the tensor where it is known, else the operation
  std::int64_t bytes = 0;
  std::vector<std::string> shared_with;  ///< further layers that keep the same storage
};

/// What the graph keeps for one layer's backward pass, every storage counted once, under the layer
/// that saved it first.
struct SavedByLayer {
  std::string layer;
  std::int64_t bytes = 0;
  std::int64_t tensors = 0;
  std::int64_t shared_bytes = 0;  ///< of them, those that another layer keeps as well
  std::int64_t kept_bytes = 0;    ///< with storages that others saved first: what it keeps alive
};

struct MemoryMoment {
  double seconds = 0;  ///< since the step's start, under observation
  BytesByUse live{};
};

/// The memory of one training step, from the allocator's reports. Bytes are above the step's start
/// but for the optimizer's states, which live from step to step.
struct MemoryProfile {
  std::int64_t saved_bytes = 0;           ///< whole model, between forward and backward
  std::int64_t peak_bytes = 0;            ///< highest sum of the reported allocations and frees
  std::int64_t allocator_peak_bytes = 0;  ///< highest of the allocator's own count, above the start
  std::int64_t events = 0;
  StepPlace peak_place;
  BytesByUse at_peak{};
  std::vector<PeakPiece> pieces;  ///< largest first
  std::vector<SavedByLayer> saved;
  std::vector<MemoryMoment> timeline;  ///< the highest moment of each of at most 400 stretches
};

/// Memory of the exact step and of the plan's, beside what doesn't change.
struct MemoryComparison {
  std::int64_t parameter_bytes = 0;
  std::int64_t buffer_bytes = 0;
  std::string optimizer;
  std::int64_t optimizer_bytes = 0;  ///< its states after a real step
  MemoryProfile exact;
  std::optional<MemoryProfile> plan;
  std::int64_t eligible_kept_exact = 0;  ///< kept by eligible layers, each storage once
  std::int64_t eligible_kept_plan = 0;
  std::string explanation;  ///< why the peak falls by less than the saved bytes, in sentences
};

/// Seconds of one layer in one step, and the work in them.
struct LayerTimes {
  std::string name;
  bool eligible = false;
  std::array<double, 3> seconds{};  ///< indexed by Path
  double rest = 0;                  ///< of its backward node: bias gradients, transposes, unpacking
  std::array<std::int64_t, 3> flops{};
  std::array<std::int64_t, 3> bytes{};  ///< both operands and the result, once each

  [[nodiscard]] double total() const { return seconds[0] + seconds[1] + seconds[2] + rest; }
};

/// Seconds of an operation outside layers, summed over the step.
struct OpTimes {
  std::string name;
  double seconds = 0;
  std::int64_t calls = 0;
  std::int64_t bytes = 0;  ///< tensors that it reads and writes; 0 for views
};

/// Where the time of one step goes; means over the timed steps.
struct TimeProfile {
  std::vector<LayerTimes> layers;
  std::vector<OpTimes> forward_ops;   ///< outside layers, longest first
  std::vector<OpTimes> backward_ops;  ///< outside layers, longest first
  double between = 0;  ///< neither: interpreter, autograd engine, and what observing left out
  double optimizer = 0;

  [[nodiscard]] double layer_seconds() const;
  [[nodiscard]] double op_seconds() const;
};

struct TimeComparison {
  Metrics metrics;                 ///< of the whole step
  std::vector<std::string> notes;  ///< on how it was measured, one sentence each
  TimeProfile exact;
  std::optional<TimeProfile> plan;
};

/// One batch size: measured, or left out with the reason.
struct BatchPoint {
  std::int64_t batch = 0;
  double step_ms = 0;
  std::int64_t peak_bytes = 0;       ///< with everything that lives through the step
  std::int64_t plan_peak_bytes = 0;  ///< 0 without a plan
  std::string failure;
};

/// bytes = constant + slope · batch, by least squares.
struct LineFit {
  double constant = 0;
  double slope = 0;
  double error = 0;  ///< largest relative deviation of a measured point

  [[nodiscard]] double at(double batch) const { return constant + slope * batch; }
  /// Largest batch with at(batch) ≤ limit even if it lies `error` higher; 0 where there is none.
  [[nodiscard]] std::int64_t largest(double limit) const;
};

struct BatchSweep {
  std::vector<BatchPoint> points;
  std::optional<LineFit> time;  ///< milliseconds
  std::optional<LineFit> exact;
  std::optional<LineFit> plan;
  std::int64_t budget_bytes = 0;  ///< 0: none was asked for
};

/// Published rates of a device.
struct TargetRates {
  std::string name;
  double float32_flops = 0;  ///< of matrix products on float32 operands as torch runs them
  double int8_ops = 0;
  double int4_ops = 0;  ///< 0: no such units, int8 stands in
  double bytes_per_second = 0;
  double memory_bytes = 0;
  std::string source;
};

/// A step on a device that isn't here; all modelled.
struct TargetModel {
  TargetRates rates;
  double exact_ms = 0;
  double plan_ms = 0;      ///< 0 without a plan
  double here_error = 0;   ///< the same model with this machine's probes against its measured step
  std::int64_t bytes = 0;  ///< peak with parameters and states
  bool fits = false;
};

struct Profile {
  std::optional<TimeComparison> time;
  std::optional<MemoryComparison> memory;
  std::optional<BatchSweep> batches;
  std::optional<TargetModel> target;
};

/// One event of a step for a trace file.
struct TraceSlice {
  std::string name;
  std::string layer;
  std::string detail;  ///< gradient or phase
  double begin = 0;    ///< seconds
  double end = 0;
  int thread = 0;
  bool layer_slice = false;
};

struct MemoryCount {
  double seconds = 0;
  std::int64_t bytes = 0;
};

/// One observed step, for --trace.
struct StepTrace {
  std::vector<TraceSlice> slices;
  std::vector<MemoryCount> memory;
};

}  // namespace hot
