#pragma once

#include <torch/script.h>

#include <cstdint>
#include <vector>

#include "models/model.hpp"

namespace hot::models {

/// Seeds the generators that dropout and random operators of a model draw from: the CPU's, and its
/// device's.
void seed_default_generator(std::uint64_t seed, at::Device device = at::kCPU);

/// Moves every tensor inside `value` to the device, in its place.
void move_to(const c10::IValue& value, at::Device device);

/// Runs the model's method on `copy` (from fresh_copy()) with copies of `inputs`, so that a model
/// that changes its arguments in place does not change the caller's. What the model throws passes
/// as it is.
[[nodiscard]] c10::IValue run_method(torch::jit::Module& copy, const Model& model,
                                     const std::vector<c10::IValue>& inputs);

/// One forward pass in training mode on a fresh copy, without gradients. What the model throws
/// passes as it is.
[[nodiscard]] c10::IValue trial_forward(const Model& model, const std::vector<c10::IValue>& inputs,
                                        std::uint64_t seed);

/// Applies `visit` to every tensor inside `value` (tuples, lists, dictionaries, nested), in order.
template <typename Visit>
void for_each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& item : value.toTupleRef().elements()) for_each_tensor(item, visit);
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) for_each_tensor(item, visit);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) for_each_tensor(entry.value(), visit);
  } else if (value.isObject()) {
    for (const c10::IValue& slot : value.toObjectRef().slots()) for_each_tensor(slot, visit);
  }
}

}  // namespace hot::models
