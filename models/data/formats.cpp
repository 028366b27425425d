#include "models/data/formats.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <new>

#include "core/errors.hpp"
#include "models/model_error.hpp"

namespace hot::models {
namespace {

std::string first_bytes(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    throw ModelError(fmt::format("data file '{}' does not exist", path));
  if (!std::filesystem::is_regular_file(status)) {
    throw ModelError(fmt::format("data file '{}' is not a file", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw ModelError(fmt::format("data file '{}' can't be opened; check its permissions", path));
  std::array<char, 16> head{};
  file.read(head.data(), head.size());
  if (file.gcount() == 0) throw ModelError(fmt::format("data file '{}' is empty", path));
  return {head.data(), static_cast<std::size_t>(file.gcount())};
}

[[noreturn]] void unknown(const std::string& path, std::string_view head) {
  if (head.starts_with("\x80\x02")) {
    throw ModelError(
        fmt::format("data file '{}' is a bare pickle; save its tensors with torch.save(x, FILE) of "
                    "torch 1.6 or later",
                    path));
  }
  if (head.starts_with("PK")) {
    throw ModelError(
        fmt::format("data file '{}' is a zip archive that is damaged or was made neither by "
                    "torch.save nor by numpy.savez",
                    path));
  }
  throw ModelError(
      fmt::format("data file '{}' is none of .pt (torch.save), .npy, .npz, .safetensors; save it "
                  "as one of them",
                  path));
}

}  // namespace

const std::vector<DataFormat>& data_formats() {
  static const std::vector<DataFormat> formats = {
      {".npy", is_npy, read_npy},
      {".npz", is_npz, read_npz},
      {".pt", is_torch_save, read_torch_save},
      {".safetensors", is_safetensors, read_safetensors},
  };
  return formats;
}

DataSet read_data(const std::string& path) {
  const std::string head = first_bytes(path);
  for (const DataFormat& format : data_formats()) {
    if (!format.recognise(path, head)) continue;
    DataSet data;
    try {
      data = format.read(path);
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw EnvironmentError(
          fmt::format("not enough memory for data file '{}'; give fewer samples", path));
    } catch (const std::exception& error) {
      throw ModelError(fmt::format("data file '{}' can't be read: {}", path, last_line(error)));
    }
    if (data.tensors.empty())
      throw ModelError(fmt::format("data file '{}' holds no tensors", path));
    return data;
  }
  unknown(path, head);
}

}  // namespace hot::models
