#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/measure/product.hpp"
#include "backward/operands.hpp"
#include "core/scheme.hpp"
#include "models/inputs.hpp"

namespace hot::measure {

// What a scheme leaves to the layer is filled in here, so that the plan says it: the rows of a
// sample, the grid of patches, the rows that keep most energy.

/// How a layer's rows divide into samples, and those into images.
struct RowLayout {
  int sample_rows = 0;  ///< 0: the rows don't follow each other sample by sample
  Grid grid{};          ///< height 0: the rows of a sample are no image
};

/// Samples of a minibatch: the first size of its first tensor; 0 without one.
[[nodiscard]] std::int64_t samples_of(const models::Batch& batch);

/// Of a minibatch of `samples`. Convolutions: positions of gy. Linear layers: [N, H, W, C] as it
/// stands; otherwise tokens that are a square behind 0, 1, 2 or 5 others (class, distillation and
/// register tokens).
[[nodiscard]] RowLayout row_layout(const backward::Operands& operands, std::int64_t samples);

/// The scheme with sample rows and grid filled in, if it asks for them; nullopt, with the reason,
/// where the layer has none.
[[nodiscard]] std::optional<Scheme> resolved(const Scheme& scheme, const RowLayout& layout,
                                             std::string& why_not);

/// The scheme with the rows that keep most of the product's energy, where it asks for them: chosen
/// one after the other, each the one that leaves least of the product out.
[[nodiscard]] Scheme with_energy_rows(const Scheme& scheme, const Product& product);

}  // namespace hot::measure
