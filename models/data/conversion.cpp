#include "models/data/conversion.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "models/inputs/build_value.hpp"

namespace hot::models {
namespace {

bool is_integer(const at::Tensor& array) {
  return c10::isIntegralType(array.scalar_type(), /*includeBool=*/true);
}

void refuse_nan(const at::Tensor& array, const std::string& what) {
  if (!array.is_floating_point()) return;
  const at::Tensor bad = array.isnan();
  if (!bad.any().item<bool>()) return;
  const auto sample = bad.reshape({array.size(0), -1}).any(1).nonzero()[0].item<std::int64_t>();
  throw ModelError(
      fmt::format("{} holds NaN (first in sample {}); give data without", what, sample));
}

void refuse_outside(const at::Tensor& array, const Expected& expected, const std::string& what) {
  if (!expected.range || !is_integer(array) || array.numel() == 0) return;
  const auto low = array.min().item<std::int64_t>();
  const auto high = array.max().item<std::int64_t>();
  if (static_cast<double>(low) < expected.range->low ||
      static_cast<double>(high) > expected.range->high) {
    throw ModelError(
        fmt::format("{} runs from {} to {}, but the model's embedding takes {:.0f} to {:.0f}; give "
                    "data that fit the model",
                    what, low, high, expected.range->low, expected.range->high));
  }
}

/// (x/255 − mean)/std, channels in dimension 1.
at::Tensor normalize(const at::Tensor& images, const Expected& expected) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(images.dim()), 1);
  shape[1] = static_cast<std::int64_t>(expected.mean.size());
  const auto channelwise = [&](const std::vector<double>& values) {
    return at::tensor(values, at::dtype(at::kDouble)).to(at::kFloat).reshape(shape);
  };
  return images.to(at::kFloat)
      .div_(255)
      .sub_(channelwise(expected.mean))
      .div_(channelwise(expected.std));
}

[[noreturn]] void refuse_type(const at::Tensor& array, const std::string& wanted,
                              const std::string& what) {
  throw ModelError(fmt::format("{} is {}, but the model takes {}; save it as {}", what,
                               dtype_name(array.scalar_type()), wanted, wanted));
}

at::Tensor to_integer(const at::Tensor& array, at::ScalarType type, const std::string& wanted,
                      const std::string& what) {
  if (!is_integer(array)) refuse_type(array, wanted, what);
  at::Tensor converted = array.to(type);
  if (!converted.to(at::kLong).equal(array.to(at::kLong))) refuse_type(array, wanted, what);
  return converted;
}

}  // namespace

at::Tensor convert(at::Tensor array, const Expected& expected, const std::string& what,
                   std::vector<std::string>* notes) {
  refuse_nan(array, what);
  const std::string from = dtype_name(array.scalar_type());
  const bool single = array.is_floating_point() && array.scalar_type() != at::kFloat;
  if (single) {
    array = array.to(at::kFloat);
    notes->push_back(fmt::format("{} is converted from {} to float32.", what, from));
  }
  if (expected.dtype.empty() || expected.dtype == dtype_name(array.scalar_type())) {
    refuse_outside(array, expected, what);
    return array;
  }
  const at::ScalarType type = scalar_type(expected.dtype);
  if (!c10::isFloatingType(type)) {
    array = to_integer(array, type, expected.dtype, what);
    notes->push_back(fmt::format("{} is converted from {} to {}.", what, from, expected.dtype));
    refuse_outside(array, expected, what);
    return array;
  }
  const bool images = array.scalar_type() == at::kByte && array.dim() >= 3 &&
                      !expected.mean.empty() &&
                      array.size(1) == static_cast<std::int64_t>(expected.mean.size());
  if (images) {
    notes->push_back(fmt::format(
        "{} is converted from uint8 to (x/255 - mean)/std, as the model file says.", what));
    return normalize(array, expected);
  }
  if (is_integer(array)) {
    notes->push_back(
        fmt::format("{} is converted from {} to float32, its values unchanged.", what, from));
  }
  return array.to(at::kFloat);
}

at::Tensor convert_labels(at::Tensor labels, const std::string& what) {
  refuse_nan(labels, what);
  if (labels.is_floating_point()) return labels.to(at::kFloat);
  labels = labels.to(at::kLong);
  return labels.dim() > 1 && labels.size(-1) == 1 ? labels.squeeze(-1) : labels;
}

}  // namespace hot::models
