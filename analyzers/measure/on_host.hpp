#pragma once

#include <string>
#include <vector>

#include "analyzers/measure/layer_meter.hpp"
#include "backward/operands.hpp"

namespace hot::measure {

/// The note of a run on a GPU.
constexpr const char* kOnHost =
    "Errors of schemes were measured on the CPU, from the operands that the GPU's step had: by the "
    "same arithmetic, which in a simulator gives the integers of the GPU's kernels to the bit; FP8 "
    "products are summed in float32 here.";

/// Adds one call's operands to the meter, copied to the CPU where they lie on a GPU. Out of memory,
/// the layer is skipped: a note says why, and false comes back.
[[nodiscard]] bool measured_on_host(const backward::Operands& operands, LayerMeter& meter,
                                    std::vector<std::string>& notes);

}  // namespace hot::measure
