#pragma once

#include <vector>

#include "analyzers/measure/operand_summary.hpp"
#include "analyzers/measure/options.hpp"
#include "analyzers/measure/product.hpp"
#include "backward/operands.hpp"

namespace hot::measure {

/// The output's gradient of one call as a contiguous matrix [L×O] with its energies.
struct OutputGradient {
  at::Tensor matrix;
  Energies energies;
};

/// Chooses and gathers what is compared of grad_input in one call. The gradient is the one with
/// respect to the layer's input: where a convolution's windows overlap, the sum over the kernel's
/// places. `seed` chooses the entries. Throws ModelError for a weight that isn't finite.
[[nodiscard]] Product grad_input_product(const backward::Operands& operands,
                                         const OutputGradient& gy,
                                         const std::vector<Scheme>& schemes, const Options& options,
                                         std::uint64_t seed);

/// The same for grad_weight. An unfolded input is made and read a bounded number of channels at a
/// time. Throws ModelError for an input that isn't finite.
[[nodiscard]] Product grad_weight_product(const backward::Operands& operands,
                                          const OutputGradient& gy,
                                          const std::vector<Scheme>& schemes,
                                          const Options& options, std::uint64_t seed);

/// Throws ModelError, naming layer and operand, unless `energy` (a sum of squares) is finite.
void check_operand(double energy, const backward::Operands& operands, const char* operand);

}  // namespace hot::measure
