#include "analyzers/cost/perturbed.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

namespace hot::cost {
namespace {

constexpr double kStep = 1e-3;

/// 64 fair bits for each number and seed (the finaliser of SplitMix64).
std::uint64_t bits_of(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15U + (number + 1) * 0xd1342543de82ef95U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Adds ±size to every element, by the bits of seed and place.
void add_signs(const at::Tensor& t, float size, std::uint64_t seed) {
  constexpr std::int64_t kBits = 64;
  at::Tensor values = t.contiguous();
  auto* data = values.mutable_data_ptr<float>();
  const std::int64_t count = values.numel();
  at::parallel_for(0, (count + kBits - 1) / kBits, 1 << 10, [&](std::int64_t begin, auto end) {
    for (std::int64_t word = begin; word < end; ++word) {
      const std::uint64_t bits = bits_of(seed, static_cast<std::uint64_t>(word));
      const std::int64_t last = std::min(count, (word + 1) * kBits);
      for (std::int64_t i = word * kBits; i < last; ++i) {
        data[i] += (bits >> (i % kBits) & 1U) != 0 ? size : -size;
      }
    }
  });
  if (!values.is_same(t)) t.copy_(values);
}

}  // namespace

Perturbed::Perturbed(const models::Model& model, std::uint64_t seed) : model_(model) {
  const at::NoGradGuard no_grad;
  double squares = 0;
  double count = 0;
  for (const auto& p : model.parameters) {
    if (!p.tensor.requires_grad()) continue;
    squares += p.tensor.square().sum(at::kDouble).item<double>();
    count += static_cast<double>(p.tensor.numel());
  }
  size_ = count > 0 ? kStep * std::sqrt(squares / count) : 0;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const at::Tensor& t = model.parameters[i].tensor;
    if (!t.requires_grad()) continue;
    saved_.push_back(t.detach().clone());
    if (t.device().is_cpu()) {
      add_signs(t.detach(), static_cast<float>(size_), seed + (i << 32U));
      continue;
    }
    const at::Tensor change = at::zeros(t.sizes());
    add_signs(change, static_cast<float>(size_), seed + (i << 32U));
    t.detach().add_(change.to(t.device()));
  }
}

Perturbed::~Perturbed() {
  const at::NoGradGuard no_grad;
  std::size_t next = 0;
  for (const auto& p : model_.parameters) {
    if (p.tensor.requires_grad()) p.tensor.detach().copy_(saved_[next++]);
  }
}

}  // namespace hot::cost
