#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/steady.hpp"

namespace hot::bench {

/// One figure beside what it is to reach.
struct Figure {
  std::string group;  ///< "passes", "bf16", "fp32"
  std::string what;
  double value = 0;  ///< a share of copy bandwidth, or times as fast
  double aim = 0;    ///< least value
  double ours_ms = 0, theirs_ms = 0;
  bool settled = false;  ///< both intervals came under 1 %

  /// "fused pass had16 + abs-max, f32, 64 MiB: 91.2 % of copy bandwidth (aim 85 %), reached".
  [[nodiscard]] std::string line() const;
};

/// A layer's backward: x [rows × in], W [out × in].
struct LayerSize {
  std::string name;
  std::int64_t rows, out, in;
};

/// Every fused pass over a matrix of `bytes`, for float32, float16 and bfloat16, against a copy
/// that reads and writes as many bytes as the pass does.
[[nodiscard]] std::vector<Figure> pass_figures(c10::Device device, std::int64_t bytes,
                                               const device::Protocol& protocol);

/// Both gradients of a linear layer by preset `hot`, transforms, quantization and preparing x
/// included, against torch's own products in BF16 (operands in BF16 for both) or FP32.
[[nodiscard]] Figure layer_figure(c10::Device device, const LayerSize& size, bool bf16, double aim,
                                  const device::Protocol& protocol);

/// The layers of the figures: the two of a feed-forward block with hidden size 4,096 and 16,384
/// inside at 15,872 rows, and ViT-B/16's four at 50,432 rows.
[[nodiscard]] std::vector<LayerSize> feed_forward_layers();
[[nodiscard]] std::vector<LayerSize> vit_layers();

/// All layers of a group together: their times added.
[[nodiscard]] Figure together(const std::vector<Figure>& figures, const std::string& what);

}  // namespace hot::bench
