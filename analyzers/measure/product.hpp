#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzers/measure/noise_stats.hpp"
#include "analyzers/measure/operand_summary.hpp"
#include "analyzers/measure/options.hpp"
#include "analyzers/measure/sample.hpp"
#include "kernels/ops.hpp"

namespace hot::measure {

/// The compared part of one factor of a backward product, with what is known of the whole.
struct Factor {
  at::Tensor part;       ///< float32, contiguous
  kernels::Along along;  ///< the contracted dimension
  Maxima maxima;         ///< of the whole factor
};

/// What outlier extraction of some indices leaves of both factors.
struct Extraction {
  std::vector<std::int64_t> indices;  ///< of the contraction
  Maxima gy, other;                   ///< of what remains of the whole factors
};

/// One backward product of one call, as far as it is compared.
///
/// places = 1: the block is the product of the two parts. places = k > 1 (grad_input of a
/// convolution whose windows overlap, where an entry of the gradient is the sum over the kernel's k
/// places): gy's part is [rows·k × O], W's part is [O × cols·k], both with the places running
/// fastest, and the contraction runs over places and O.
struct Product {
  Path path = Path::grad_input;
  Factor gy;
  Factor other;  ///< W or x
  std::int64_t places = 1;
  Axis rows{};                              ///< of the gradient: along gy's free dimension
  Axis cols{};                              ///< along the other factor's
  std::map<int, Extraction> extractions{};  ///< by k of oe<k>
  /// grad_input by patches: gy's part after projecting the whole of gy back and forth.
  std::map<Transform, at::Tensor> low_passed{};
};

/// What one scheme did to one gradient of one layer, over calls and batches.
struct SchemeMeter {
  Scheme scheme;
  ErrorStats errors{};
  NoiseStats noise{};
  std::int64_t samples = 0;  ///< gradients compared: calls × batches × seeds
  std::int64_t entries = 0;  ///< entries compared, over calls and batches
};

/// Runs every meter's scheme on the product with the kernels' arithmetic and compares it with the
/// float32 product of the same parts. Throws ModelError, naming `layer`, when a product overflows.
void measure_product(const Product& product, const std::string& layer, const Options& options,
                     std::vector<SchemeMeter>& meters);

}  // namespace hot::measure
