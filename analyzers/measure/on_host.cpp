#include "analyzers/measure/on_host.hpp"

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

namespace hot::measure {
namespace {

backward::Operands copied(const backward::Operands& operands) {
  backward::Operands host = operands;
  for (at::Tensor* tensor : {&host.gy, &host.weight, &host.x})
    if (tensor->defined()) *tensor = tensor->cpu();
  return host;
}

bool is_allocation_failure(const c10::Error& error) {
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         std::string_view(error.what_without_backtrace()).find("can't allocate memory") !=
             std::string_view::npos;
}

}  // namespace

bool measured_on_host(const backward::Operands& operands, LayerMeter& meter,
                      std::vector<std::string>& notes) {
  try {
    meter.add(operands.gy.is_cpu() ? operands : copied(operands));
    return true;
  } catch (const c10::Error& error) {
    if (!is_allocation_failure(error)) throw;
    notes.push_back(fmt::format(
        "{}: skipped, and left exact: there is not enough memory to measure it.", operands.layer));
    return false;
  }
}

}  // namespace hot::measure
