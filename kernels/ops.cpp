#include "kernels/ops.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "core/errors.hpp"
#include "kernels/cpu/backends.hpp"

namespace hot::kernels {
namespace {

/// Every CPU backend of this build, slowest first. A new one is one file in cpu/ and one row here.
constexpr CpuBackend kBackends[] = {portable_backend, avx2_backend, avx512_backend};

std::vector<const Ops*> usable_backends() {
  std::vector<const Ops*> usable;
  for (const CpuBackend backend : kBackends)
    if (const Ops* ops = backend()) usable.push_back(ops);
  return usable;
}

}  // namespace

std::int64_t transformed_length(std::int64_t length, const Transform& transform) {
  if (transform.kind == Transform::Kind::none) return length;
  if (transform.order < 1) throw std::logic_error("a block's order is a power of two");
  if (transform.span == Span::sample) {
    const Transform flat = flat_transform(transform);
    return length / transform.sample_rows * transformed_length(transform.sample_rows, flat) +
           transformed_length(length % transform.sample_rows, flat);
  }
  if (transform.span == Span::divisor) return transformed_length(length, flat_transform(transform));
  const std::int64_t blocks = (length + transform.order - 1) / transform.order;
  return blocks * (transform.kind == Transform::Kind::lowrank ? transform.rank : transform.order);
}

std::span<const Ops* const> available_cpu_ops() {
  static const std::vector<const Ops*> usable = usable_backends();
  return usable;
}

const Ops& select_cpu_ops(std::string_view name) {
  const auto usable = available_cpu_ops();
  if (name.empty()) return *usable.back();
  std::vector<std::string_view> names;
  for (const Ops* ops : usable) {
    if (ops->name == name) return *ops;
    names.emplace_back(ops->name);
  }
  throw UsageError(fmt::format("HOT_CPU={}: no such CPU backend on this machine; set one of {}",
                               name, fmt::join(names, ", ")));
}

const Ops& cpu_ops() {
  static const Ops& chosen = [&]() -> const Ops& {
    const char* forced = std::getenv("HOT_CPU");
    return select_cpu_ops(forced == nullptr ? "" : forced);
  }();
  return chosen;
}

}  // namespace hot::kernels
