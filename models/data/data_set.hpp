#pragma once

#include <torch/script.h>

#include <string>
#include <vector>

namespace hot::models {

/// One array of a data file. Without a name it goes by its place.
struct DataTensor {
  std::string name;
  at::Tensor tensor;  ///< dense, on the CPU, without gradient; never complex or quantized
};

struct DataSet {
  std::vector<DataTensor> tensors;  ///< in the file's order, labels among them
};

/// Reads a .pt (tensor, tuple, list or dictionary of tensors saved by torch.save), .npy, .npz or
/// .safetensors file, told apart by content. Sizes in the file are checked against its length
/// before anything is allocated; checksums of zip records are verified. Throws ModelError: which
/// file, which array, what is wrong, what to do.
[[nodiscard]] DataSet read_data(const std::string& path);

}  // namespace hot::models
