#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace hot::bench {

/// One layer of a published model, without its batch.
struct LayerShape {
  const char* model;
  const char* layer;
  std::int64_t out = 0;    ///< output channels, O
  std::int64_t in = 0;     ///< input channels; I = in · kernel²
  std::int64_t rows = 0;   ///< linear: rows of one sample; 0 for a convolution
  std::int64_t image = 0;  ///< convolution: height and width of its input
  std::int64_t kernel = 1;
  std::int64_t stride = 1;

  [[nodiscard]] bool convolution() const { return image > 0; }
  [[nodiscard]] std::int64_t padding() const { return kernel / 2; }
  [[nodiscard]] std::int64_t out_image() const { return (image - 1) / stride + 1; }
};

/// The layers of the benchmark, model by model. Images are 224×224. Linear layers of ViT-B/16,
/// BERT-base and the language model count 197 rows a sample, so that batches of 1, 8 and 32 make
/// 197, 1,576 and 6,304 rows; those of EfficientFormer-L7 have its 49 tokens.
[[nodiscard]] std::span<const LayerShape> layer_shapes();

/// Rows of the layer's two GEMMs: samples, or positions of the output of all images.
[[nodiscard]] std::int64_t gemm_rows(const LayerShape& shape, std::int64_t batch);

/// E.g. "resnet50/layer1.0.conv2/b8".
[[nodiscard]] std::string case_name(const LayerShape& shape, std::int64_t batch);

/// LxOxI of the two GEMMs: "1576x3072x768".
[[nodiscard]] std::string gemm_text(const LayerShape& shape, std::int64_t batch);

}  // namespace hot::bench
