#pragma once

#include <vector>

#include "analyzers/measure/layer_products.hpp"
#include "core/error_table.hpp"

namespace hot::measure {

/// Facts of both operands of one product: energies of whole rows and columns where they are known
/// (gy's), else, like the kurtosis, estimated from the compared parts.
[[nodiscard]] std::vector<OperandFacts> operand_facts(const Product& product,
                                                      const Energies& gy_energies);

}  // namespace hot::measure
