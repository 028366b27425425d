#include "core/rounding_seed.hpp"

namespace hot {
namespace {

/// The finalizer of SplitMix64: neighbouring numbers end far apart.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// 64-bit FNV-1a, the same everywhere (std::hash is not).
std::uint64_t hashed(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

}  // namespace

std::uint64_t layer_seed(std::uint64_t run, std::string_view layer) {
  return mixed(run + 0x9E3779B97F4A7C15ULL) ^ hashed(layer);
}

std::uint64_t product_seed(std::uint64_t layer, Path path, std::int64_t count) {
  return layer + 2 * static_cast<std::uint64_t>(count) + (path == Path::grad_input ? 0 : 1);
}

}  // namespace hot
