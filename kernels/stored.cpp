#include "kernels/stored.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/ops.hpp"

namespace hot::kernels {
namespace {

/// Levels that a thread moves at once; even, so that no byte is shared.
constexpr std::int64_t kGrain = 1 << 17;

/// Calls move(first level, levels) for ranges that begin at even levels.
template <class Move>
void over_pairs(std::int64_t count, const Move& move) {
  at::parallel_for(0, (count + kGrain - 1) / kGrain, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kGrain;
    move(first, std::min(end * kGrain, count) - first);
  });
}

}  // namespace

Stored stored(Operand operand) {
  if (operand.format != Format::int4 || operand.layout) return {std::move(operand), std::nullopt};
  const at::AutoDispatchBelowAutograd no_autograd;
  const at::Tensor levels = operand.values.contiguous();
  const std::int64_t count = levels.numel();
  at::Tensor packed = at::empty({(count + 1) / 2}, at::kByte);
  const auto* from = levels.const_data_ptr<std::int8_t>();
  auto* to = packed.mutable_data_ptr<std::uint8_t>();
  over_pairs(count, [&](std::int64_t first, std::int64_t some) {
    cpu_ops().pack_int4(from + first, some, to + first / 2);
  });
  operand.values = std::move(packed);
  return {std::move(operand), levels.sizes().vec()};
}

Operand restored(Stored stored) {
  if (!stored.levels) return std::move(stored.operand);
  const at::AutoDispatchBelowAutograd no_autograd;
  at::Tensor levels = at::empty(*stored.levels, at::kChar);
  const auto* from = stored.operand.values.const_data_ptr<std::uint8_t>();
  auto* to = levels.mutable_data_ptr<std::int8_t>();
  over_pairs(levels.numel(), [&](std::int64_t first, std::int64_t some) {
    cpu_ops().unpack_int4(from + first / 2, some, to + first);
  });
  stored.operand.values = std::move(levels);
  return std::move(stored.operand);
}

}  // namespace hot::kernels
