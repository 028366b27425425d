#pragma once

#include <ATen/ATen.h>

#include "models/step.hpp"
#include "tests/models/hand_made.hpp"

namespace hot::backward::testing {

using models::testing::hand_made;

inline at::Tensor parameter(at::IntArrayRef sizes) {
  return at::randn(sizes) * 0.3;
}

/// Every kind of layer that a plan can change, and some that it can't: convolutions with and
/// without unfolding, a depthwise one, linear layers in both orientations and several ranks, a
/// product of activations, an in-place ReLU.
inline models::Model mixed_model() {
  at::manual_seed(7);
  return hand_made(R"(
def forward(self, x: Tensor):
    y = torch.conv2d(x, self.stem, self.stem_bias, [2, 2], [1, 1])
    y = torch.relu_(y)
    y = torch.conv2d(y, self.depthwise, None, [1, 1], [1, 1], [1, 1], 8)
    y = torch.conv2d(y, self.pointwise)
    y = torch.conv_transpose2d(y, self.up, None, [2, 2])
    t = y.flatten(2).transpose(1, 2)
    t = torch.matmul(t, self.plain) + torch.linear(t, self.first, self.first_bias)
    a = torch.matmul(t, t.transpose(1, 2)).softmax(-1)
    t = torch.matmul(a, t)
    t = torch.addmm(self.head_bias, t.mean(1), self.head)
    return t
)",
                   {{"stem", parameter({8, 3, 3, 3})},
                    {"stem_bias", parameter({8})},
                    {"depthwise", parameter({8, 1, 3, 3})},
                    {"pointwise", parameter({12, 8, 1, 1})},
                    {"up", parameter({12, 16, 2, 2})},
                    {"plain", parameter({16, 24})},
                    {"first", parameter({24, 16})},
                    {"first_bias", parameter({24})},
                    {"head", parameter({24, 10})},
                    {"head_bias", parameter({10})}});
}

inline models::Inputs mixed_inputs() {
  at::manual_seed(8);
  models::Inputs inputs;
  inputs.batches.push_back({{at::randn({4, 3, 12, 12})}, {}});
  return inputs;
}

inline models::Loss output_loss(const models::Model& model, const models::Inputs& inputs) {
  return models::Loss::choose("output", model, inputs.batches.front(), 3);
}

}  // namespace hot::backward::testing
