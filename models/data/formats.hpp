#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/data/data_set.hpp"

namespace hot::models {

/// A format of calibration data. A new one is one file and one row in data_formats().
struct DataFormat {
  std::string_view name;
  /// True if the file is in this format. `head` holds its first bytes (up to 16).
  bool (*recognise)(const std::string& path, std::string_view head);
  DataSet (*read)(const std::string& path);
};

[[nodiscard]] const std::vector<DataFormat>& data_formats();

bool is_npy(const std::string& path, std::string_view head);
DataSet read_npy(const std::string& path);
bool is_npz(const std::string& path, std::string_view head);
DataSet read_npz(const std::string& path);
bool is_torch_save(const std::string& path, std::string_view head);
DataSet read_torch_save(const std::string& path);
bool is_safetensors(const std::string& path, std::string_view head);
DataSet read_safetensors(const std::string& path);

}  // namespace hot::models
