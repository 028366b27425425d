// INT4 levels two a byte. Part of loops.hpp; internal linkage.
#pragma once

#include "kernels/cpu/loops_includes.hpp"

namespace hot::kernels {
namespace {

static_assert(std::endian::native == std::endian::little);

void pack_int4(const std::int8_t* levels, std::int64_t count, std::uint8_t* packed) {
  const std::int64_t pairs = count / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    std::uint16_t pair = 0;
    std::memcpy(&pair, levels + 2 * i, sizeof(pair));
    packed[i] = static_cast<std::uint8_t>((pair & 0x0f) | (pair >> 4 & 0xf0));
  }
  if (count % 2 != 0) packed[pairs] = static_cast<std::uint8_t>(levels[count - 1] & 0x0f);
}

void unpack_int4(const std::uint8_t* packed, std::int64_t count, std::int8_t* levels) {
  const std::int64_t pairs = count / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const auto halves = static_cast<std::uint16_t>((packed[i] | packed[i] << 4) & 0x0f0f);
    const auto signs = static_cast<std::uint16_t>(halves & 0x0808);
    // 0x1e copies each sign into the four bits above it.
    const auto pair = static_cast<std::uint16_t>(halves | signs * 0x1e);
    std::memcpy(levels + 2 * i, &pair, sizeof(pair));
  }
  if (count % 2 != 0)
    levels[count - 1] = static_cast<std::int8_t>(((packed[pairs] & 0x0f) ^ 0x08) - 0x08);
}

}  // namespace
}  // namespace hot::kernels
