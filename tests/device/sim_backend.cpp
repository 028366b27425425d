#include "tests/device/sim_backend.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <stdexcept>

#include "kernels/sim/memory.hpp"

namespace hot::kernels {
namespace {

/// Simulated device memory for torch's CPU tensors.
struct SimAllocator : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    void* memory = sim::allocate(bytes);
    return {memory, memory, sim::release, at::Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return sim::release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

/// Level of vector `free`, term `t`.
int level_at(const std::int8_t* levels, const LevelLayout& layout, std::int64_t free,
             std::int64_t t) {
  const std::int8_t* vector = levels + free * layout.pitch;
  if (!layout.packed) return vector[t];
  const int nibble = vector[t / 2] >> (t % 2 == 0 ? 0 : 4) & 0xf;
  return nibble < 8 ? nibble : nibble - 16;
}

c10::Allocator* former = nullptr;

}  // namespace

SimBackend::SimBackend() {
  static SimAllocator allocator;
  former = c10::GetCPUAllocator();
  c10::SetCPUAllocator(&allocator, 1);
}

SimBackend::~SimBackend() {
  c10::SetCPUAllocator(former, 1);
}

std::size_t SimBackend::workspace_bytes(at::Device, const LevelLayout&, const LevelLayout&) const {
  return 1;
}

void SimBackend::multiply(at::Device, void*, const std::int8_t* a, const LevelLayout& a_layout,
                          const std::int8_t* b, const LevelLayout& b_layout, std::int32_t* out,
                          void*) const {
  if (a_layout.terms != b_layout.terms || a_layout.packed != b_layout.packed)
    throw std::logic_error("the operands don't fit");
  if (a_layout.padded_free > most_rows && ++refused > 0)
    TORCH_CHECK_WITH(OutOfMemoryError, false, "simulated: out of memory");
  ++products_run;
  // All levels that the library would read, the padding's zeros among them.
  const std::int64_t terms = a_layout.vector_bytes() * (a_layout.packed ? 2 : 1);
  sim::check_access(a,
                    static_cast<std::size_t>((a_layout.padded_free - 1) * a_layout.pitch +
                                             a_layout.vector_bytes()),
                    16, "product");
  sim::check_access(b,
                    static_cast<std::size_t>((b_layout.padded_free - 1) * b_layout.pitch +
                                             b_layout.vector_bytes()),
                    16, "product");
  for (std::int64_t r = 0; r < a_layout.padded_free; ++r)
    for (std::int64_t c = 0; c < b_layout.padded_free; ++c) {
      std::int32_t sum = 0;
      for (std::int64_t t = 0; t < terms; ++t)
        sum += level_at(a, a_layout, r, t) * level_at(b, b_layout, c, t);
      out[r * b_layout.padded_free + c] = sum;
    }
}

void SimBackend::multiply_fp8(at::Device, void*, const Fp8Factor& a, const Fp8Factor& b,
                              float factor, float* out, void*) const {
  if (a.layout.terms != b.layout.terms || a.layout.packed || b.layout.packed ||
      (a.scale == nullptr) != (b.scale == nullptr))
    throw std::logic_error("the operands don't fit");
  if (a.layout.padded_free > most_rows && ++refused > 0)
    TORCH_CHECK_WITH(OutOfMemoryError, false, "simulated: out of memory");
  ++fp8_products_run;
  const std::int64_t terms = a.layout.vector_bytes();  // the padding's zeros among them
  for (const Fp8Factor* f : {&a, &b})
    sim::check_access(
        f->numbers, static_cast<std::size_t>((f->layout.padded_free - 1) * f->layout.pitch + terms),
        16, "product");
  const float scale = factor * (a.scale == nullptr ? 1.0F : *a.scale * *b.scale);
  for (std::int64_t r = 0; r < a.layout.padded_free; ++r)
    for (std::int64_t c = 0; c < b.layout.padded_free; ++c) {
      float sum = 0;
      const auto* left = reinterpret_cast<const std::uint8_t*>(a.numbers) + r * a.layout.pitch;
      const auto* right = reinterpret_cast<const std::uint8_t*>(b.numbers) + c * b.layout.pitch;
      for (std::int64_t t = 0; t < terms; ++t)
        sum += fp8_number(left[t], a.format) * fp8_number(right[t], b.format);
      out[r * b.layout.padded_free + c] = sum * scale;
    }
}

}  // namespace hot::kernels
