#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "core/errors.hpp"
#include "models/data/formats.hpp"
#include "models/data/numpy_array.hpp"
#include "models/file/archive.hpp"

namespace hot::models {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string whole_file(const std::string& path) {
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(path));
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

bool is_npy(const std::string&, std::string_view head) {
  return head.starts_with("\x93NUMPY");
}

DataSet read_npy(const std::string& path) {
  return {{{"", parse_npy(whole_file(path), fmt::format("data file '{}'", path))}}};
}

bool is_npz(const std::string& path, std::string_view head) {
  const auto archive = head.starts_with("PK") ? Archive::open(path) : nullptr;
  if (!archive || archive->records().empty()) return false;
  return archive->records()[0].name.ends_with(kSuffix);
}

DataSet read_npz(const std::string& path) {
  const auto archive = Archive::open(path);
  if (!archive) throw ModelError(fmt::format("data file '{}' can't be read", path));
  static_cast<void>(archive->verify());
  DataSet data;
  for (const Record& record : archive->records()) {
    if (!record.name.ends_with(kSuffix)) continue;
    std::string name = record.name.substr(0, record.name.size() - kSuffix.size());
    const std::string place = fmt::format("data file '{}', array '{}'", path, name);
    at::Tensor tensor = parse_npy(archive->read(record.name, record.size), place);
    // numpy.savez calls arrays without a name arr_0, arr_1, …
    if (name == fmt::format("arr_{}", data.tensors.size())) name.clear();
    data.tensors.push_back({std::move(name), std::move(tensor)});
  }
  return data;
}

}  // namespace hot::models
