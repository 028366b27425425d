#pragma once

#include <string>

#include "analyzers/cost/step_facts.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "core/progress.hpp"

namespace hot::cost {

struct Options {
  std::string device;           ///< what times depend on, the key of the cache on disk
  std::string runs_on = "cpu";  ///< where, as c10::Device takes it
  double seconds = 10;  ///< measuring stops after this; what is left is modelled, and marked
};

/// Sets exact_input_ms and exact_weight_ms of every layer and time_ms of the rows: measured with
/// the layer's own kernels at its own shape (LayerClock), or kept from an earlier run on the same
/// device, for schemes that no other one beats in error, modelled cost and bytes, and those of the
/// method presets; for the others modelled by modelled_cost(), as much over or under it as the
/// gradient's measured schemes are. Notes say how many were modelled for want of time, or of memory
/// on the GPU.
void add_times(const Trace& trace, const Geometries& geometries, const Options& options,
               const Progress& progress, ErrorTable& table);

}  // namespace hot::cost
