#pragma once

#include <map>
#include <memory>
#include <string>

#include "analyzers/cost/step_facts.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"
#include "core/progress.hpp"

namespace hot::cost {

struct Options {
  std::string device;           ///< what times depend on, the key of the cache on disk
  std::string runs_on = "cpu";  ///< where, as c10::Device takes it
  double seconds = 10;  ///< of measuring schemes: after this, what is left is modelled, and marked
  bool fast_int4 = false;  ///< int4 products are faster than int8 ones here
};

/// Sets exact_input_ms and exact_weight_ms of every layer and time_ms of the rows: measured with
/// the layer's own kernels at its own shape (LayerClock), or kept from an earlier run on the same
/// device. Only what can be picked is measured: first the exact products and the schemes of the
/// method presets and one more of each gradient, then, plan by plan, what was picked. All others
/// are modelled by modelled_cost(), corrected by what was measured (TimeModel), and marked.
class TimeTable {
 public:
  TimeTable(const Trace& trace, const Geometries& geometries, const Options& options,
            ErrorTable& table);
  ~TimeTable();
  TimeTable(const TimeTable&) = delete;
  TimeTable& operator=(const TimeTable&) = delete;

  /// Exact products, presets and one more scheme of each gradient. `in_the_model`: ms of layers'
  /// exact backward passes in running steps. Exact times add up to them layer by layer, all others
  /// are taken as much longer or shorter as exact ones are over all layers: between a step's other
  /// work the same kernels find other caches and pages than alone.
  void begin(const std::map<std::string, double>& in_the_model, const Progress& progress);
  /// The picks of `plan` that are only modelled, while there is time. False where nothing was
  /// measured: the plan stands.
  [[nodiscard]] bool measure_picks(const Plan& plan);
  /// Schemes' times taken as much longer or shorter as those of `plan` are in the running model:
  /// `in_the_model` has ms of its layers' backward passes. The median over its layers counts, which
  /// no single hiccup moves; layers that were slower than exact count by their own. False, and
  /// nothing done, where it plans no scheme that is timed.
  bool calibrate(const Plan& plan, const std::map<std::string, double>& in_the_model);
  /// Keeps the times on disk; notes say how many of the plan's are modelled, and how good the model
  /// is.
  void end(const Plan* plan);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hot::cost
