#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/import_read.h>

#include <algorithm>
#include <new>

#include "core/errors.hpp"
#include "models/data/formats.hpp"
#include "models/file/archive.hpp"
#include "models/file/memory_limit.hpp"
#include "models/file/printable.hpp"
#include "models/model_error.hpp"

namespace hot::models {
namespace {

void add(const c10::IValue& value, const std::string& name, const std::string& place,
         DataSet* data) {
  const std::string what =
      name.empty() ? fmt::format("entry {}", data->tensors.size()) : fmt::format("key '{}'", name);
  if (!value.isTensor()) {
    throw ModelError(fmt::format("{}: {} is a {}, not a tensor; save tensors alone", place, what,
                                 value.tagKind()));
  }
  const at::Tensor& tensor = value.toTensor();
  if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_quantized() ||
      tensor.is_complex()) {
    throw ModelError(fmt::format("{}: {} is sparse, quantized or complex; save a dense real tensor",
                                 place, what));
  }
  data->tensors.push_back({name, tensor.detach()});
}

void add_all(const c10::IValue& value, const std::string& place, DataSet* data) {
  if (value.isTuple()) {
    for (const c10::IValue& item : value.toTupleRef().elements()) add(item, "", place, data);
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) add(item, "", place, data);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      if (!entry.key().isString()) {
        throw ModelError(
            fmt::format("{}: its dictionary has keys that are no strings; name them after the "
                        "model's arguments",
                        place));
      }
      add(entry.value(), entry.key().toStringRef(), place, data);
    }
  } else {
    add(value, "", place, data);
  }
}

}  // namespace

bool is_torch_save(const std::string& path, std::string_view head) {
  const auto archive = head.starts_with("PK") ? Archive::open(path) : nullptr;
  return archive && std::any_of(archive->records().begin(), archive->records().end(),
                                [](const Record& r) { return r.name.ends_with("/data.pkl"); });
}

DataSet read_torch_save(const std::string& path) {
  const std::string place = fmt::format("data file '{}'", path);
  const auto archive = Archive::open(path);
  if (!archive) throw ModelError(place + " can't be read");
  for (const Record& record : archive->records()) {
    if (record.name.ends_with("/constants.pkl")) {
      throw ModelError(place +
                       " is a TorchScript model; give a file of tensors saved by torch.save");
    }
  }
  static_cast<void>(archive->verify());
  c10::IValue value;
  try {
    const MemoryLimit limit(enough_memory(archive->unpacked_bytes()));
    caffe2::serialize::PyTorchStreamReader reader(path);
    value = torch::jit::readArchiveAndTensors("data", "", "", std::nullopt, std::nullopt, at::kCPU,
                                              reader);
  } catch (const std::bad_alloc&) {
    throw ModelError(
        fmt::format("{} asks for far more memory than its {} MB can need: a size in it is damaged; "
                    "copy the file again",
                    place, (archive->unpacked_bytes() >> 20) + 1));
  } catch (const std::exception& error) {
    throw ModelError(
        fmt::format("{} can't be read as tensors in tuples, lists or dictionaries ({}); save "
                    "tensors alone with "
                    "torch.save, or copy the file again",
                    place, printable(last_line(error))));
  }
  DataSet data;
  add_all(value, place, &data);
  return data;
}

}  // namespace hot::models
