#include "models/data/data_arguments.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/errors.hpp"
#include "models/data/conversion.hpp"
#include "models/inputs/archive_spec.hpp"
#include "models/inputs/build_value.hpp"
#include "models/inputs/expectations.hpp"

namespace hot::models {
namespace {

constexpr std::array<std::string_view, 5> kLabelNames = {"labels", "label", "targets", "target",
                                                         "y"};
constexpr std::int64_t kDefaultBatch = 8;

bool is_label_name(const std::string& name) {
  return std::find(kLabelNames.begin(), kLabelNames.end(), name) != kLabelNames.end();
}

c10::TypePtr plain_type(const Argument& argument) {
  const auto optional = argument.type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : argument.type;
}

bool is_list(const Argument& argument) {
  const auto list = plain_type(argument)->cast<c10::ListType>();
  return list && list->getElementType()->kind() == c10::TypeKind::TensorType;
}

bool is_dict(const Argument& argument) {
  const auto dict = plain_type(argument)->cast<c10::DictType>();
  return dict && dict->getKeyType()->kind() == c10::TypeKind::StringType &&
         dict->getValueType()->kind() == c10::TypeKind::TensorType;
}

bool takes_array(const Argument& argument) {
  return argument.is_tensor() || is_list(argument);
}

at::Tensor read_labels(const std::string& path) {
  DataSet data = read_data(path);
  if (data.tensors.size() == 1) return data.tensors[0].tensor;
  for (const DataTensor& array : data.tensors) {
    if (is_label_name(array.name)) return array.tensor;
  }
  throw ModelError(
      fmt::format("label file '{}' holds {} arrays, none of them called {}; save the labels alone",
                  path, data.tensors.size(), fmt::join(kLabelNames, ", ")));
}

}  // namespace

DataArguments::DataArguments(const Model& model, const std::vector<Argument>& arguments,
                             const InputOptions& options)
    : path_(options.data), arguments_(arguments), arrays_(arguments.size()) {
  DataSet data = read_data(options.data);
  const bool inside = std::any_of(
      data.tensors.begin(), data.tensors.end(),
      [&](const DataTensor& array) { return !array.name.empty() && array.name == options.labels; });
  std::error_code ignored;
  if (!options.labels.empty() && !inside && !std::filesystem::exists(options.labels, ignored)) {
    throw ModelError(fmt::format(
        "--labels {}: there is no such file, nor an array of that name in the data file",
        options.labels));
  }
  match(std::move(data), inside ? options.labels : "");
  if (!options.labels.empty() && !inside) {
    if (labels_.defined())
      notes_.emplace_back("The labels of --labels are used, not those inside --data.");
    labels_ = read_labels(options.labels);
  }
  take_samples(options);
  convert(model);
}

/// `key`: the array that holds the labels; empty: the one with a name that labels have.
void DataArguments::match(DataSet data, const std::string& key) {
  std::vector<DataTensor> named;
  std::vector<DataTensor> unnamed;
  for (DataTensor& array : data.tensors) {
    const bool argument = std::any_of(arguments_.begin(), arguments_.end(),
                                      [&](const Argument& a) { return a.name == array.name; });
    if (!key.empty() && array.name == key) {
      labels_ = array.tensor;
    } else if (!argument && is_label_name(array.name)) {
      if (key.empty()) {
        labels_ = array.tensor;
      } else {
        notes_.push_back(fmt::format(
            "Array '{}' of the data file is left out: --labels names '{}'.", array.name, key));
      }
    } else {
      (array.name.empty() ? unnamed : named).push_back(std::move(array));
    }
  }
  match_names(std::move(named));
  match_places(unnamed);
}

void DataArguments::match_names(std::vector<DataTensor> named) {
  std::vector<DataTensor> unknown;
  for (DataTensor& array : named) {
    const auto argument =
        std::find_if(arguments_.begin(), arguments_.end(),
                     [&](const Argument& a) { return a.name == array.name && takes_array(a); });
    if (argument == arguments_.end()) {
      unknown.push_back(std::move(array));
    } else {
      arrays_[static_cast<std::size_t>(argument - arguments_.begin())] = {std::move(array)};
    }
  }
  if (unknown.empty()) return;
  const auto dict = std::find_if(arguments_.begin(), arguments_.end(), is_dict);
  if (dict != arguments_.end()) {
    arrays_[static_cast<std::size_t>(dict - arguments_.begin())] = std::move(unknown);
    return;
  }
  const std::size_t target = free_argument();
  if (named.size() == 1 && target < arguments_.size()) {
    notes_.push_back(fmt::format("Array '{}' of the data file is taken for argument '{}'.",
                                 unknown[0].name, arguments_[target].name));
    arrays_[target] = std::move(unknown);
    return;
  }
  throw ModelError(
      fmt::format("data file '{}' has an array '{}', but the model takes {}; name the arrays after "
                  "the arguments, labels 'labels'",
                  path_, unknown[0].name, list_arguments(arguments_)));
}

void DataArguments::match_places(const std::vector<DataTensor>& unnamed) {
  for (std::size_t i = 0; i < unnamed.size(); ++i) {
    const std::size_t target = free_argument();
    if (target < arguments_.size()) {
      arrays_[target] = {unnamed[i]};
    } else if (i + 1 == unnamed.size() && i > 0 && !labels_.defined()) {
      labels_ = unnamed[i].tensor;
      notes_.emplace_back("The last array of the data file is taken for the labels.");
    } else {
      throw ModelError(
          fmt::format("data file '{}' holds {} arrays, but the model takes {}; name the arrays "
                      "after the arguments, labels 'labels'",
                      path_, unnamed.size(), list_arguments(arguments_)));
    }
  }
}

/// The first argument that takes an array and has none; required ones alone.
std::size_t DataArguments::free_argument() const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (takes_array(arguments_[i]) && arrays_[i].empty() && !arguments_[i].default_value) return i;
  }
  return arguments_.size();
}

void DataArguments::take_samples(const InputOptions& options) {
  std::optional<std::int64_t> samples;
  std::string first;
  const auto count = [&](const at::Tensor& array, const std::string& name) {
    if (array.dim() == 0)
      throw ModelError(
          fmt::format("{} is a single number; its first dimension must be the samples", name));
    if (array.numel() == 0)
      throw ModelError(fmt::format("{}: an array of shape {} holds no values; give real samples",
                                   name, fmt::join(array.sizes(), "x")));
    if (samples && *samples != array.size(0)) {
      throw ModelError(fmt::format("{}: {} samples, but {}: {}; give as many of each", first,
                                   *samples, name, array.size(0)));
    }
    if (!samples) {
      samples = array.size(0);
      first = name;
    }
  };
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    for (const DataTensor& array : arrays_[i])
      count(array.tensor, fmt::format("data for argument '{}'", arguments_[i].name));
  }
  if (!samples) {
    throw ModelError(
        fmt::format("data file '{}' holds nothing for an argument of the model, which takes {}",
                    path_, list_arguments(arguments_)));
  }
  if (labels_.defined()) count(labels_, "the labels");
  std::int64_t batches = options.batches;
  batch_ = options.batch > 0 ? options.batch : std::min(kDefaultBatch, *samples / batches);
  if (batch_ > 0 && options.up_to > batches)
    batches = std::clamp<std::int64_t>(*samples / batch_, batches, options.up_to);
  if (options.whole) {
    batches = std::max<std::int64_t>(1, *samples / std::max<std::int64_t>(1, batch_));
    shuffle(*samples, options.seed);
  }
  batches_ = batches;
  if (batch_ < 1 || batch_ * batches > *samples) {
    throw ModelError(
        fmt::format("data file '{}' has {} samples, but --batches {} of --batch {} need {}; give "
                    "fewer, or more data",
                    path_, *samples, batches, std::max<std::int64_t>(batch_, 1),
                    std::max<std::int64_t>(batch_, 1) * batches));
  }
  notes_.push_back(
      fmt::format("{} {} of {} samples of the data file are used, {} minibatch{} of {}.",
                  options.whole ? "In an order drawn by the seed," : "The first", batch_ * batches,
                  *samples, batches, batches == 1 ? "" : "es", batch_));
  for (auto& arrays : arrays_) {
    for (DataTensor& array : arrays)
      array.tensor = array.tensor.narrow(0, 0, batch_ * batches).contiguous();
  }
  if (labels_.defined()) labels_ = labels_.narrow(0, 0, batch_ * batches).contiguous();
}

/// The same order for all arrays: torch.randperm(samples, generator=Generator().manual_seed(seed)).
void DataArguments::shuffle(std::int64_t samples, std::uint64_t seed) {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const at::Tensor order = at::randperm(samples, generator, at::kLong);
  for (auto& arrays : arrays_) {
    for (DataTensor& array : arrays) array.tensor = array.tensor.index_select(0, order);
  }
  if (labels_.defined()) labels_ = labels_.index_select(0, order);
}

void DataArguments::convert(const Model& model) {
  const std::vector<Expected> expected = expectations(model, arguments_);
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    for (DataTensor& array : arrays_[i]) {
      const Expected& wanted = is_dict(arguments_[i]) ? Expected{} : expected[i];
      array.tensor = models::convert(
          array.tensor, wanted, fmt::format("Data for argument '{}'", arguments_[i].name), &notes_);
    }
  }
  if (labels_.defined()) labels_ = convert_labels(labels_, "the label array");
}

ArgumentSpecs DataArguments::specs() const {
  ArgumentSpecs specs(arguments_.size());
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].empty()) continue;
    std::vector<ValueSpec> tensors;
    for (const DataTensor& array : arrays_[i]) {
      std::vector<std::int64_t> shape = array.tensor.sizes().vec();
      shape[0] = batch_;
      tensors.push_back(tensor_spec(dtype_name(array.tensor.scalar_type()), std::move(shape)));
    }
    ValueSpec spec;
    if (is_dict(arguments_[i])) {
      spec.kind = ValueSpec::Kind::dict;
      for (const DataTensor& array : arrays_[i]) spec.keys.push_back(array.name);
      spec.items = std::move(tensors);
    } else if (is_list(arguments_[i])) {
      spec.kind = ValueSpec::Kind::list;
      tensors[0].shape.erase(tensors[0].shape.begin());
      spec.items.assign(static_cast<std::size_t>(batch_), tensors[0]);
    } else {
      spec = std::move(tensors[0]);
    }
    specs[i] = std::move(spec);
  }
  return specs;
}

void DataArguments::put(std::int64_t index, std::vector<c10::IValue>* values) const {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].empty()) continue;
    const auto part = [&](const DataTensor& array) {
      return array.tensor.narrow(0, index * batch_, batch_);
    };
    if (is_dict(arguments_[i])) {
      c10::Dict<std::string, at::Tensor> dict;
      for (const DataTensor& array : arrays_[i]) dict.insert(array.name, part(array));
      (*values)[i] = dict;
    } else if (is_list(arguments_[i])) {
      (*values)[i] = c10::List<at::Tensor>(part(arrays_[i][0]).unbind(0));
    } else {
      (*values)[i] = part(arrays_[i][0]);
    }
  }
}

at::Tensor DataArguments::labels(std::int64_t index) const {
  return labels_.defined() ? labels_.narrow(0, index * batch_, batch_) : at::Tensor();
}

}  // namespace hot::models
