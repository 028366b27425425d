#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/errors.hpp"
#include "models/data/formats.hpp"
#include "models/data/raw_tensor.hpp"

namespace hot::models {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLongestHeader = 100'000'000;  ///< the format's own limit

struct Entry {
  std::string name;
  Element element;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

[[noreturn]] void damaged(const std::string& place, const std::string& what) {
  throw ModelError(fmt::format("{}: {}; save it again", place, what));
}

std::uint64_t header_length(std::string_view head) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(head[i]);
  return length;
}

Element element_of(const std::string& name, const std::string& place) {
  static const std::map<std::string, Element> types = {
      {"F64", {at::kDouble, 8, false}}, {"F32", {at::kFloat, 4, false}},
      {"F16", {at::kHalf, 2, false}},   {"BF16", {at::kBFloat16, 2, false}},
      {"I64", {at::kLong, 8, false}},   {"I32", {at::kInt, 4, false}},
      {"I16", {at::kShort, 2, false}},  {"I8", {at::kChar, 1, false}},
      {"U8", {at::kByte, 1, false}},    {"BOOL", {at::kBool, 1, false}},
      {"U16", {at::kLong, 2, true}},    {"U32", {at::kLong, 4, true}},
      {"U64", {at::kLong, 8, true}},
  };
  const auto type = types.find(name);
  if (type == types.end())
    damaged(place, fmt::format("its type '{}' is neither boolean, integer nor floating", name));
  return type->second;
}

std::optional<std::uint64_t> natural(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

Entry read_entry(const std::string& name, const json& value, std::uint64_t body,
                 const std::string& file) {
  const std::string place = fmt::format("{}, tensor '{}'", file, name);
  if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
      !value.contains("shape") || !value["shape"].is_array() || !value.contains("data_offsets") ||
      !value["data_offsets"].is_array() || value["data_offsets"].size() != 2) {
    damaged(place, "its entry lacks dtype, shape or data_offsets");
  }
  Entry entry{name, element_of(value["dtype"].get<std::string>(), place), {}, 0, 0};
  for (const json& size : value["shape"]) {
    const auto number = natural(size);
    if (!number || *number > static_cast<std::uint64_t>(INT64_MAX))
      damaged(place, "its shape holds no valid size");
    entry.shape.push_back(static_cast<std::int64_t>(*number));
  }
  const auto begin = natural(value["data_offsets"][0]);
  const auto end = natural(value["data_offsets"][1]);
  if (!begin || !end || *begin > *end || *end > body)
    damaged(place, "its offsets lie outside the file");
  entry.begin = *begin;
  entry.end = *end;
  const auto bytes = static_cast<std::int64_t>(entry.end - entry.begin);
  if (checked_bytes(entry.shape, entry.element.bytes, bytes) != bytes) {
    damaged(place, "its offsets don't fit its shape and type");
  }
  return entry;
}

void check_overlaps(std::vector<Entry> entries, const std::string& file) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].begin < entries[i - 1].end) {
      damaged(file,
              fmt::format("tensors '{}' and '{}' overlap", entries[i - 1].name, entries[i].name));
    }
  }
}

}  // namespace

bool is_safetensors(const std::string& path, std::string_view head) {
  return head.size() >= 9 && head[8] == '{' &&
         header_length(head) <= std::filesystem::file_size(path) - 8;
}

DataSet read_safetensors(const std::string& path) {
  const std::string file = fmt::format("data file '{}'", path);
  const std::uint64_t size = std::filesystem::file_size(path);
  std::ifstream stream(path, std::ios::binary);
  std::string head(8, '\0');
  if (size < 8 || !stream.read(head.data(), 8)) damaged(file, "it is too short");
  const std::uint64_t length = header_length(head);
  if (length > size - 8 || length > kLongestHeader)
    damaged(file, "its header is longer than the file");
  std::string text(length, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(length)))
    damaged(file, "it ends within its header");
  const json header = json::parse(text, nullptr, false);
  if (!header.is_object()) damaged(file, "its header is not JSON");

  const std::uint64_t body = size - 8 - length;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name != "__metadata__") entries.push_back(read_entry(name, value, body, file));
  }
  check_overlaps(entries, file);
  DataSet data;
  for (const Entry& entry : entries) {
    std::string bytes(entry.end - entry.begin, '\0');
    stream.seekg(static_cast<std::streamoff>(8 + length + entry.begin));
    if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      damaged(file, "it ends early");
    data.tensors.push_back(
        {entry.name, tensor_from_bytes(bytes, entry.element, entry.shape, false,
                                       fmt::format("{}, tensor '{}'", file, entry.name))});
  }
  return data;
}

}  // namespace hot::models
