#include "models/data/numpy_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "models/data/raw_tensor.hpp"

namespace hot::models {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 10000;  ///< numpy's own limit
constexpr std::size_t kMaxDimensions = 64;

[[noreturn]] void damaged(const std::string& place, const std::string& what) {
  throw ModelError(fmt::format("{}: {}; save it again with numpy.save", place, what));
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

/// The text behind `'key':` in the header's Python dictionary.
std::string_view behind(std::string_view header, std::string_view key, const std::string& place) {
  const std::string quoted = fmt::format("'{}':", key);
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) damaged(place, fmt::format("its header has no '{}'", key));
  header.remove_prefix(at + quoted.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

struct Type {
  Element element;
  bool swap = false;
};

Type read_type(std::string_view text, const std::string& place) {
  const std::size_t end = text.size() > 1 ? text.find('\'', 1) : std::string_view::npos;
  if (text.starts_with('[')) {
    damaged(place, "it holds records with named fields; save each field as an array of its own");
  }
  if (!text.starts_with('\'') || end == std::string_view::npos)
    damaged(place, "its type can't be read");
  const std::string_view name = text.substr(1, end - 1);
  const auto kind = name.size() >= 2 ? name.substr(1) : std::string_view();
  const bool swap = name.starts_with('>');
  if (kind == "b1") return {{at::kBool, 1, false}, false};
  if (kind == "i1") return {{at::kChar, 1, false}, false};
  if (kind == "u1") return {{at::kByte, 1, false}, false};
  if (kind == "i2") return {{at::kShort, 2, false}, swap};
  if (kind == "i4") return {{at::kInt, 4, false}, swap};
  if (kind == "i8") return {{at::kLong, 8, false}, swap};
  if (kind == "u2") return {{at::kLong, 2, true}, swap};
  if (kind == "u4") return {{at::kLong, 4, true}, swap};
  if (kind == "u8") return {{at::kLong, 8, true}, swap};
  if (kind == "f2") return {{at::kHalf, 2, false}, swap};
  if (kind == "f4") return {{at::kFloat, 4, false}, swap};
  if (kind == "f8") return {{at::kDouble, 8, false}, swap};
  damaged(place, fmt::format("its type '{}' is neither boolean, integer nor floating", name));
}

std::vector<std::int64_t> read_shape(std::string_view text, const std::string& place) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos)
    damaged(place, "its shape can't be read");
  text = text.substr(1, end - 1);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view number = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    number.remove_prefix(std::min(number.find_first_not_of(' '), number.size()));
    while (number.ends_with(' ')) number.remove_suffix(1);
    if (number.empty() && text.empty()) break;
    std::int64_t size = 0;
    const char* first = number.data();
    const char* last = first + number.size();
    const auto [stop, error] = std::from_chars(first, last, size);
    if (error != std::errc() || stop != last || size < 0 || shape.size() == kMaxDimensions) {
      damaged(place, "its shape can't be read");
    }
    shape.push_back(size);
  }
  return shape;
}

}  // namespace

at::Tensor parse_npy(std::string_view bytes, const std::string& place) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 10) damaged(place, "it is not a numpy array");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    damaged(place, fmt::format("its format version {} is unknown", version));
  const std::size_t width = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + width) damaged(place, "it ends within its header");
  const std::size_t length = little_endian(bytes.substr(8, width));
  const std::size_t start = 8 + width;
  if (length > kLongestHeader) damaged(place, fmt::format("its header claims {} bytes", length));
  if (bytes.size() - start < length) damaged(place, "it ends within its header");
  const std::string_view header = bytes.substr(start, length);

  const Type type = read_type(behind(header, "descr", place), place);
  std::vector<std::int64_t> shape = read_shape(behind(header, "shape", place), place);
  const bool fortran = behind(header, "fortran_order", place).starts_with("True");
  const std::string_view body = bytes.substr(start + length);
  const auto available = static_cast<std::int64_t>(body.size());
  const std::int64_t needed = checked_bytes(shape, type.element.bytes, available);
  if (needed < 0) damaged(place, "it is shorter than its shape says");
  if (fortran) std::reverse(shape.begin(), shape.end());
  at::Tensor tensor = tensor_from_bytes(body.substr(0, static_cast<std::size_t>(needed)),
                                        type.element, shape, type.swap, place);
  if (!fortran) return tensor;
  std::vector<std::int64_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<std::int64_t>(order.size() - 1 - i);
  return tensor.permute(order).contiguous();
}

}  // namespace hot::models
