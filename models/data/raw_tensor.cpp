#include "models/data/raw_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "core/errors.hpp"

namespace hot::models {
namespace {

/// Copies elements to `to`, reversing the bytes of each where `swap`.
void copy_elements(std::string_view from, int size, bool swap, char* to) {
  std::memcpy(to, from.data(), from.size());
  if (!swap || size == 1) return;
  for (char* element = to; element < to + from.size(); element += size) {
    std::reverse(element, element + size);
  }
}

template <typename Unsigned>
void widen(const std::string& bytes, std::int64_t* to, const std::string& place) {
  for (std::size_t i = 0; i * sizeof(Unsigned) < bytes.size(); ++i) {
    Unsigned value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(Unsigned), sizeof(Unsigned));
    to[i] = static_cast<std::int64_t>(value);
    if (to[i] < 0)
      throw ModelError(
          fmt::format("{} holds {}, which int64 can't; save it as int64", place, value));
  }
}

}  // namespace

std::int64_t checked_bytes(const std::vector<std::int64_t>& shape, int element_bytes,
                           std::int64_t limit) {
  std::int64_t bytes = element_bytes;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return -1;
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return -1;
    }
  }
  if (empty) return 0;
  return bytes <= limit ? bytes : -1;
}

at::Tensor tensor_from_bytes(std::string_view bytes, const Element& element,
                             const std::vector<std::int64_t>& shape, bool swap,
                             const std::string& place) {
  const auto length = static_cast<std::int64_t>(bytes.size());
  if (checked_bytes(shape, element.bytes, length) != length) {
    throw ModelError(fmt::format("{}: {} bytes don't make an array of {}; the file is damaged",
                                 place, length, fmt::join(shape, "x")));
  }
  if (element.type == at::kBool) {
    Element byte{at::kByte, 1, false};
    return tensor_from_bytes(bytes, byte, shape, false, place).ne(0);
  }
  at::Tensor tensor = at::empty(shape, at::dtype(element.type));
  if (bytes.empty()) return tensor;
  if (!element.widened) {
    copy_elements(bytes, element.bytes, swap, static_cast<char*>(tensor.data_ptr()));
    return tensor;
  }
  std::string ordered(bytes.size(), '\0');
  copy_elements(bytes, element.bytes, swap, ordered.data());
  auto* to = tensor.data_ptr<std::int64_t>();
  if (element.bytes == 2) widen<std::uint16_t>(ordered, to, place);
  if (element.bytes == 4) widen<std::uint32_t>(ordered, to, place);
  if (element.bytes == 8) widen<std::uint64_t>(ordered, to, place);
  return tensor;
}

}  // namespace hot::models
