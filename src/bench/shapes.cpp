#include "bench/shapes.hpp"

#include <fmt/format.h>

#include <array>

namespace hot::bench {
namespace {

constexpr const char* kVit = "vit_b_16";
constexpr const char* kResnet = "resnet50";
constexpr const char* kFormer = "efficientformer_l7";
constexpr const char* kBert = "bert_base";
constexpr const char* kLlm = "llm_1b";  // Llama-3.2-1B's block: hidden 2048, MLP 8192, 8 KV heads

constexpr LayerShape linear(const char* model, const char* layer, std::int64_t out, std::int64_t in,
                            std::int64_t rows = 197) {
  return {model, layer, out, in, rows, 0, 1, 1};
}

constexpr LayerShape conv(const char* model, const char* layer, std::int64_t out, std::int64_t in,
                          std::int64_t image, std::int64_t kernel, std::int64_t stride = 1) {
  return {model, layer, out, in, 0, image, kernel, stride};
}

constexpr std::array kShapes = {
    linear(kVit, "qkv", 2304, 768),
    linear(kVit, "proj", 768, 768),
    linear(kVit, "fc1", 3072, 768),
    linear(kVit, "fc2", 768, 3072),
    conv(kResnet, "layer1.0.conv2", 64, 64, 56, 3),
    conv(kResnet, "layer1.0.conv3", 256, 64, 56, 1),
    conv(kResnet, "layer2.1.conv2", 128, 128, 28, 3),
    conv(kResnet, "layer3.1.conv1", 256, 1024, 14, 1),
    conv(kResnet, "layer3.1.conv2", 256, 256, 14, 3),
    conv(kResnet, "layer4.1.conv2", 512, 512, 7, 3),
    conv(kFormer, "stages.0.fc1", 384, 96, 56, 1),
    conv(kFormer, "stages.1.fc2", 192, 768, 28, 1),
    conv(kFormer, "stages.2.downsample", 384, 192, 28, 3, 2),
    conv(kFormer, "stages.2.fc1", 1536, 384, 14, 1),
    linear(kFormer, "stages.3.qkv", 1536, 768, 49),
    linear(kFormer, "stages.3.fc1", 3072, 768, 49),
    linear(kBert, "query", 768, 768),
    linear(kBert, "intermediate", 3072, 768),
    linear(kBert, "output", 768, 3072),
    linear(kLlm, "q_proj", 2048, 2048),
    linear(kLlm, "k_proj", 512, 2048),
    linear(kLlm, "up_proj", 8192, 2048),
    linear(kLlm, "down_proj", 2048, 8192),
};

}  // namespace

std::span<const LayerShape> layer_shapes() {
  return kShapes;
}

std::int64_t gemm_rows(const LayerShape& shape, std::int64_t batch) {
  return batch * (shape.convolution() ? shape.out_image() * shape.out_image() : shape.rows);
}

std::string case_name(const LayerShape& shape, std::int64_t batch) {
  return fmt::format("{}/{}/b{}", shape.model, shape.layer, batch);
}

std::string gemm_text(const LayerShape& shape, std::int64_t batch) {
  return fmt::format("{}x{}x{}", gemm_rows(shape, batch), shape.out,
                     shape.in * shape.kernel * shape.kernel);
}

}  // namespace hot::bench
