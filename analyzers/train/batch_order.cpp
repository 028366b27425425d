#include "analyzers/train/batch_order.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

namespace hot::train {

std::vector<std::int64_t> batch_order(std::int64_t batches, std::int64_t steps,
                                      std::uint64_t seed) {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  std::vector<std::int64_t> order;
  while (batches > 0 && std::ssize(order) < steps) {
    const at::Tensor epoch = at::randperm(batches, generator, at::kLong);
    const auto* first = epoch.const_data_ptr<std::int64_t>();
    order.insert(order.end(), first, first + batches);
  }
  order.resize(static_cast<std::size_t>(batches > 0 ? steps : 0));
  return order;
}

}  // namespace hot::train
