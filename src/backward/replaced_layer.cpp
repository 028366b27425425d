#include "backward/replaced_layer.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <set>

#include "backward/image_gradient.hpp"
#include "backward/pixel_rows.hpp"
#include "backward/unfolded_rows.hpp"
#include "core/rounding_seed.hpp"

namespace hot::backward {
namespace {

constexpr std::int64_t kChecked = 32;
/// Spans of a GPU's work that wait to be asked for their seconds.
constexpr std::size_t kPending = 256;

/// About kChecked indices of a free dimension, spread over the whole of it.
at::Tensor checked_indices(std::int64_t length, at::Device device) {
  const std::int64_t step = std::max<std::int64_t>(1, (length + kChecked - 1) / kChecked);
  return at::arange(0, length, step, at::device(device).dtype(at::kLong));
}

/// Dimension of an operand's values that isn't contracted.
std::int64_t free_dimension(const kernels::Operand& operand) {
  return operand.along == kernels::Along::cols ? 0 : 1;
}

/// The checked rows of an operand, or its columns where the rows are contracted.
kernels::Operand checked_part(const kernels::Operand& operand) {
  const auto values = kernels::matrix_of(operand);
  const auto chosen = checked_indices(values.size(free_dimension(operand)), values.device());
  auto part = operand;
  part.packed.reset();
  part.layout.reset();
  part.values = values.index_select(free_dimension(operand), chosen).contiguous();
  if (operand.scales.defined() && operand.scales.numel() > 1 && operand.block == 0) {
    part.scales = operand.scales.index_select(0, chosen);
  }
  return part;
}

/// The checked part's values level · scale, the free dimension first, in double.
at::Tensor checked_values(const kernels::Operand& operand) {
  const auto values = kernels::dequantized(checked_part(operand)).to(at::kDouble);
  return free_dimension(operand) == 0 ? values : values.t();
}

/// Largest deviation of `product` [m×n] from a·b with the same integers in double, over some rows
/// and columns; relative to the largest magnitude there.
double deviation_from_double(const at::Tensor& product, const kernels::Operand& a,
                             const kernels::Operand& b) {
  if (product.numel() == 0 || a.deferred) return 0;  // whose outliers are no part of the integers
  const double scale = product_factor(a.transform);
  const auto expected = checked_values(a).mm(checked_values(b).t()) * scale;
  const auto part = product.index_select(0, checked_indices(product.size(0), product.device()))
                        .index_select(1, checked_indices(product.size(1), product.device()))
                        .to(at::kDouble);
  const auto largest = expected.abs().max().item<double>();
  const auto difference = (part - expected).abs().max().item<double>();
  return largest > 0 ? difference / largest : difference;
}

/// Operations that keep their own result for backward: compressing it once more would only add
/// bytes.
bool producer_keeps(const at::Tensor& x) {
  static const std::set<std::string> keepers = {
      "ReluBackward0",    "SigmoidBackward0", "TanhBackward0",
      "SoftmaxBackward0", "ExpBackward0",     "LogSoftmaxBackward0",
      "SqrtBackward0",    "RsqrtBackward0",   "ReciprocalBackward0"};
  static const std::set<std::string> views = {
      "ViewBackward0",         "UnsafeViewBackward0", "TBackward0",       "TransposeBackward0",
      "ReshapeAliasBackward0", "UnsqueezeBackward0",  "SqueezeBackward0", "SqueezeBackward1"};
  auto node = x.grad_fn();
  while (node && views.contains(node->name()) && node->num_outputs() > 0) {
    node = node->next_edge(0).function;
  }
  return node && keepers.contains(node->name());
}

}  // namespace

bool ReplacedLayer::compresses(const at::Tensor& x, const Window& window) {
  if (schemes_.grad_weight.is_exact() || producer_keeps(x)) return false;
  if (schemes_.grad_weight.outliers > 0) return false;  // which they are is known with gy
  if (window.trivial()) return true;
  if (window.transposed) return false;
  return quantizes_before_unfolding(
      schemes_.grad_weight,
      *runs_of(window, x.sizes().slice(2), window.positions(x.sizes().slice(2))));
}

bool ReplacedLayer::compresses_unfolded(const at::Tensor& x, const Window& window) {
  const Scheme& scheme = schemes_.grad_weight;
  if (!is_integer(scheme.format_of_other()) || scheme.outliers > 0 || window.trivial() ||
      window.transposed)
    return false;
  if (producer_keeps(x)) return false;
  const auto runs = runs_of(window, x.sizes().slice(2), window.positions(x.sizes().slice(2)));
  const std::int64_t rows = x.size(0) * runs->positions();
  const std::int64_t bytes = kernels::transformed_length(rows, scheme.transform) * runs->places() *
                             x.size(1) * bits(scheme.format_of_other()) / 8;
  return 2 * bytes < static_cast<std::int64_t>(x.nbytes());
}

kernels::Operand ReplacedLayer::prepare_unfolded_x(const at::Tensor& x, const Window& window) {
  const Timed timed(*this, &LayerRuns::forward_seconds, x);
  const at::AutoDispatchBelowAutograd no_autograd;
  return prepare_unfolded(
      x, *runs_of(window, x.sizes().slice(2), window.positions(x.sizes().slice(2))),
      schemes_.grad_weight);
}

kernels::Operand ReplacedLayer::prepare_x(const at::Tensor& x, const Window& window) {
  const Timed timed(*this, &LayerRuns::forward_seconds, x);
  const at::AutoDispatchBelowAutograd no_autograd;
  const auto& s = schemes_.grad_weight;
  if (!window.convolution) return kernels::prepare_x(x.reshape({-1, x.size(-1)}), s);
  return window.trivial() ? prepare_pixel_x(x, s) : prepare_pixels(x, s);
}

std::shared_ptr<const WindowRuns> ReplacedLayer::runs_of(const Window& window,
                                                         at::IntArrayRef image,
                                                         at::IntArrayRef positions) {
  std::vector<std::int64_t> key = image.vec();
  key.insert(key.end(), positions.begin(), positions.end());
  const std::lock_guard lock(mutex_);
  auto& runs = windows_[key];
  if (!runs) runs = std::make_shared<const WindowRuns>(window, image, positions);
  return runs;
}

std::uint64_t ReplacedLayer::next_seed(Path path) {
  const std::lock_guard lock(mutex_);
  auto& count = path == Path::grad_input ? runs_.grad_input : runs_.grad_weight;
  return product_seed(seed_, path, count++);
}

void ReplacedLayer::note_deviation(double deviation) {
  const std::lock_guard lock(mutex_);
  runs_.kernel_deviation = std::max(runs_.kernel_deviation, deviation);
}

ReplacedLayer::GyOperands ReplacedLayer::prepare_gy(const Operands& o, bool input, bool weight) {
  device::Work work = input != weight ? work_of(input ? &LayerRuns::grad_input_seconds
                                                      : &LayerRuns::grad_weight_seconds)
                                      : device::Work{"", "backward", "gy of both gradients"};
  const device::WorkScope scope(std::move(work));
  device::Span span(device::clock_of(o.gy.device()));
  std::vector<kernels::Recipe> recipes;
  if (input)
    recipes.push_back(
        kernels::gy_recipe(Path::grad_input, schemes_.grad_input, next_seed(Path::grad_input)));
  if (weight)
    recipes.push_back(
        kernels::gy_recipe(Path::grad_weight, schemes_.grad_weight, next_seed(Path::grad_weight)));
  auto operands = o.window.convolution && !o.window.transposed
                      ? prepare_pixel_rows(o.gy, recipes)
                      : kernels::prepare_all(gy_matrix(o), recipes);
  GyOperands result;
  if (input) result.input = operands.front();
  if (weight) result.weight = operands.back();
  span.end();
  const double share = input && weight ? 0.5 : 1;
  if (input) add_time(&LayerRuns::grad_input_seconds, span, share);
  if (weight) add_time(&LayerRuns::grad_weight_seconds, span, share);
  return result;
}

at::Tensor ReplacedLayer::grad_input(const kernels::Operand& gy, const at::Tensor& w) {
  const Timed timed(*this, &LayerRuns::grad_input_seconds, w);
  const auto b = kernels::prepare_w(w, schemes_.grad_input);
  auto gx = kernels::multiply(gy, b);
  if (check_) note_deviation(deviation_from_double(gx, gy, b));
  return gx;
}

at::Tensor ReplacedLayer::convolution_grad_input(const kernels::Operand& gy, const Operands& o) {
  const Timed timed(*this, &LayerRuns::grad_input_seconds, o.gy);
  // W as [O × places·C], like the rows of an unfolded image.
  const auto w = pixel_rows(o.weight).view({o.weight.size(0), -1});
  const auto b = kernels::prepare_w(w, schemes_.grad_input);
  if (check_) {
    const auto part = checked_part(gy);
    note_deviation(deviation_from_double(kernels::multiply(part, b), part, b));
  }
  return image_gradient(gy, b, o.window, o.window.trivial() ? nullptr : runs_of(o).get(),
                        o.x_sizes);
}

at::Tensor ReplacedLayer::grad_weight(const kernels::Operand& gy, const kernels::Operand& x) {
  const Timed timed(*this, &LayerRuns::grad_weight_seconds, gy.values);
  auto gw = kernels::multiply(gy, x);
  if (check_) note_deviation(deviation_from_double(gw, gy, x));
  return gw;
}

void ReplacedLayer::count_exact(Path path) {
  next_seed(path);
}

device::Work ReplacedLayer::work_of(double LayerRuns::*seconds) const {
  if (!device::work_is_watched()) return {};
  if (seconds == &LayerRuns::forward_seconds)
    return {"", to_string(Path::forward), to_string(schemes_.grad_weight)};
  const bool input = seconds == &LayerRuns::grad_input_seconds;
  return {"", to_string(input ? Path::grad_input : Path::grad_weight),
          to_string(input ? schemes_.grad_input : schemes_.grad_weight)};
}

void ReplacedLayer::add_time(double LayerRuns::*seconds, const device::Span& span, double share) {
  const std::lock_guard lock(mutex_);
  if (!span.may_wait()) {
    runs_.*seconds += share * span.seconds();
    return;
  }
  pending_.push_back({seconds, span, share});
  if (pending_.size() > kPending) settle(kPending / 2);  // of steps that are long over
}

void ReplacedLayer::settle(std::size_t count) const {
  const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto p = pending_.begin(); p != end; ++p)
    runs_.*(p->seconds) += p->share * p->span.seconds();
  pending_.erase(pending_.begin(), end);
}

LayerRuns ReplacedLayer::runs() const {
  const std::lock_guard lock(mutex_);
  settle(pending_.size());
  return runs_;
}

}  // namespace hot::backward
