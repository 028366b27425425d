#include "analyzers/measure/layer_products.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzers/measure/reaching_rows.hpp"
#include "core/errors.hpp"
#include "kernels/outliers.hpp"
#include "kernels/patches.hpp"

namespace hot::measure {
namespace {

using backward::Operands;
using kernels::Along;

std::int64_t live(const std::vector<double>& energy) {
  return std::count_if(energy.begin(), energy.end(), [](double e) { return e > 0; });
}

/// Chooses the block of a gradient whose rows and columns carry these energies.
void choose_block(const std::vector<double>& rows, const std::vector<double>& cols,
                  const Options& options, std::uint64_t seed, Product& product) {
  const auto height = static_cast<std::int64_t>(rows.size());
  const auto width = static_cast<std::int64_t>(cols.size());
  const double most = static_cast<double>(options.max_entries) /
                      std::max(1.0, static_cast<double>(height) * static_cast<double>(width));
  const double work = options.work < 1 ? std::min(options.work, most) : options.work;
  const SampleSize size =
      sample_size(height, width, live(rows), live(cols), work, options.min_entries);
  product.rows = choose_axis(rows, size.rows, 2 * seed);
  product.cols = choose_axis(cols, size.cols, 2 * seed + 1);
}

/// Rows (dim 0) or columns (dim 1) of a contiguous matrix; itself where all are asked for.
at::Tensor gathered(const at::Tensor& matrix, std::int64_t dim,
                    const std::vector<std::int64_t>& index) {
  const auto count = static_cast<std::int64_t>(index.size());
  if (count == matrix.size(dim)) return matrix;
  return matrix.index_select(dim, at::tensor(index, at::kLong));
}

std::vector<std::int64_t> spatial(at::IntArrayRef sizes) {
  return {sizes.begin() + 2, sizes.end()};
}

/// Each column of an unfolded matrix: place fastest, then channel.
std::vector<std::int64_t> columns_of_channels(const std::vector<std::int64_t>& channels,
                                              std::int64_t places) {
  std::vector<std::int64_t> columns;
  for (const auto channel : channels) {
    for (std::int64_t place = 0; place < places; ++place)
      columns.push_back(channel * places + place);
  }
  return columns;
}

/// gy's rows as the sampled pixels meet them, [pixels × places]; -1 where none does.
class PixelTable {
 public:
  explicit PixelTable(const Operands& o)
      : window_(o.window), image_(spatial(o.x_sizes)), positions_(spatial(o.gy.sizes())) {
    pixels_ = o.x_sizes[0];
    for (const auto size : image_) pixels_ *= size;
  }

  /// Σ over places of the energy of the gy rows that reach each pixel.
  [[nodiscard]] std::vector<double> energies(const std::vector<double>& row_energy) const {
    std::vector<double> result(static_cast<std::size_t>(pixels_));
    for (std::int64_t pixel = 0; pixel < pixels_; ++pixel) {
      for (const auto row : reaching_rows(window_, image_, positions_, pixel)) {
        if (row >= 0) {
          result[static_cast<std::size_t>(pixel)] += row_energy[static_cast<std::size_t>(row)];
        }
      }
    }
    return result;
  }

  /// gy's rows for these pixels, zeros where no row reaches, [pixels·places × O].
  [[nodiscard]] at::Tensor gather(const at::Tensor& gy,
                                  const std::vector<std::int64_t>& pixels) const {
    std::vector<std::int64_t> sources;
    std::vector<std::int64_t> targets;
    std::int64_t slot = 0;
    for (const auto pixel : pixels) {
      for (const auto row : reaching_rows(window_, image_, positions_, pixel)) {
        if (row >= 0) {
          sources.push_back(row);
          targets.push_back(slot);
        }
        ++slot;
      }
    }
    at::Tensor result = at::zeros({slot, gy.size(1)}, gy.options());
    result.index_copy_(0, at::tensor(targets, at::kLong),
                       gy.index_select(0, at::tensor(sources, at::kLong)));
    return result;
  }

 private:
  const backward::Window& window_;
  std::vector<std::int64_t> image_, positions_;
  std::int64_t pixels_ = 0;
};

std::int64_t kernel_places(const backward::Window& window) {
  return std::accumulate(window.kernel.begin(), window.kernel.end(), std::int64_t{1},
                         std::multiplies<>());
}

/// Channels that are unfolded at once: 64 MiB of the unfolded matrix, one channel at least.
std::int64_t channels_at_once(const Operands& o) {
  constexpr std::int64_t kFloats = 16 << 20;
  const std::int64_t length = o.gy.numel() / o.gy.size(1);
  return std::clamp<std::int64_t>(kFloats / (length * kernel_places(o.window)), 1, o.x.size(1));
}

/// x as matrix, contiguous, a range of its columns at a time: visit(matrix, first column).
template <class Visit>
void for_column_parts(const Operands& o, const Visit& visit) {
  if (o.window.trivial() || o.window.transposed) {
    visit(backward::x_matrix(o).contiguous(), 0);
    return;
  }
  const std::int64_t step = channels_at_once(o);
  for (std::int64_t channel = 0; channel < o.x.size(1); channel += step) {
    Operands part = o;
    part.x = o.x.narrow(1, channel, std::min(step, o.x.size(1) - channel));
    visit(backward::x_matrix(part).contiguous(), channel * kernel_places(o.window));
  }
}

/// Energy of x's channels (of the columns, for linear layers), each repeated for the kernel's
/// places: zero exactly where the unfolded column is zero.
std::vector<double> column_energies(const Operands& o) {
  const std::int64_t channel_dim = o.window.convolution ? 1 : o.x.dim() - 1;
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < o.x.dim(); ++d) {
    if (d != channel_dim) others.push_back(d);
  }
  const at::Tensor norms =
      (others.empty() ? o.x.abs() : at::linalg_vector_norm(o.x, 2, others)).contiguous();
  const std::int64_t places =
      o.window.trivial() || o.window.transposed ? 1 : kernel_places(o.window);
  std::vector<double> result;
  for (std::int64_t channel = 0; channel < norms.numel(); ++channel) {
    const double norm = norms.const_data_ptr<float>()[channel];
    result.insert(result.end(), static_cast<std::size_t>(places), norm * norm);
  }
  return result;
}

/// Adds what the schemes with oe<k> need. `over_other(visit)` hands on the other factor's whole, in
/// parts.
template <class OverOther>
void add_extractions(const std::vector<Scheme>& schemes, const at::Tensor& gy,
                     const OverOther& over_other, Product& product) {
  const Along along = product.gy.along;
  for (const Scheme& scheme : schemes) {
    if (scheme.outliers == 0) continue;
    const auto [place, fresh] = product.extractions.try_emplace(
        scheme.outliers,
        Extraction{kernels::outlier_indices(product.gy.maxima.by_index({}),
                                            product.other.maxima.by_index({}), scheme.outliers),
                   Maxima(along, {}), Maxima(Along::rows, {})});
    if (scheme.format == Format::none) continue;
    place->second.gy.add(scheme);
    place->second.other.add(scheme);
  }
  for (auto& [count, extraction] : product.extractions) {
    extraction.gy.add(kernels::without_indices(gy, along, extraction.indices));
    over_other([&](const at::Tensor& part) {
      extraction.other.add(kernels::without_indices(part, Along::rows, extraction.indices));
    });
  }
}

/// Adds gy after each patch transform and back, as `gather` takes the compared rows from it.
template <class Gather>
void add_low_passed(const std::vector<Scheme>& schemes, const at::Tensor& gy, const Gather& gather,
                    Product& product) {
  for (const Scheme& scheme : schemes) {
    const Transform& t = scheme.transform;
    if (t.kind == Transform::Kind::patch && !product.low_passed.contains(t))
      product.low_passed.emplace(t, gather(kernels::low_passed(gy, t)));
  }
}

}  // namespace

void check_operand(double energy, const Operands& operands, const char* operand) {
  if (std::isfinite(energy)) return;
  throw ModelError(fmt::format(
      "layer {}: {} holds NaN or infinite values in the backward pass; check the model's weights "
      "and give inputs in its normal range with --data or --input",
      operands.layer, operand));
}

Product grad_input_product(const Operands& operands, const OutputGradient& gy,
                           const std::vector<Scheme>& schemes, const Options& options,
                           std::uint64_t seed) {
  const at::Tensor weight = backward::weight_matrix(operands).detach().contiguous();
  Energies weight_energies = energies(weight);
  check_operand(weight_energies.total(), operands, "the weight");
  Product product{Path::grad_input,
                  {{}, Along::cols, Maxima(Along::cols, schemes)},
                  {{}, Along::rows, Maxima(Along::rows, schemes)}};
  product.gy.maxima.add(gy.matrix);
  product.other.maxima.add(weight);
  add_extractions(
      schemes, gy.matrix, [&](const auto& visit) { visit(weight); }, product);
  if (!windows_overlap(operands.window)) {
    choose_block(gy.energies.rows, weight_energies.cols, options, seed, product);
    product.gy.part = gathered(gy.matrix, 0, product.rows.index);
    product.other.part = gathered(weight, 1, product.cols.index);
    add_low_passed(
        schemes, gy.matrix, [&](const at::Tensor& m) { return gathered(m, 0, product.rows.index); },
        product);
    return product;
  }
  product.places = kernel_places(operands.window);
  std::vector<double> channel_energies(weight_energies.cols.size() /
                                       static_cast<std::size_t>(product.places));
  for (std::size_t column = 0; column < weight_energies.cols.size(); ++column) {
    channel_energies[column / static_cast<std::size_t>(product.places)] +=
        weight_energies.cols[column];
  }
  const PixelTable pixels(operands);
  choose_block(pixels.energies(gy.energies.rows), channel_energies, options, seed, product);
  product.gy.part = pixels.gather(gy.matrix, product.rows.index);
  product.other.part = gathered(weight, 1, columns_of_channels(product.cols.index, product.places));
  add_low_passed(
      schemes, gy.matrix, [&](const at::Tensor& m) { return pixels.gather(m, product.rows.index); },
      product);
  return product;
}

Product grad_weight_product(const Operands& operands, const OutputGradient& gy,
                            const std::vector<Scheme>& schemes, const Options& options,
                            std::uint64_t seed) {
  Product product{Path::grad_weight,
                  {{}, Along::rows, Maxima(Along::rows, schemes)},
                  {{}, Along::rows, Maxima(Along::rows, schemes)}};
  const std::vector<double> x_energies = column_energies(operands);
  check_operand(std::accumulate(x_energies.begin(), x_energies.end(), 0.0), operands,
                "the input (x)");
  choose_block(gy.energies.cols, x_energies, options, seed, product);
  product.gy.maxima.add(gy.matrix);
  product.gy.part = gathered(gy.matrix, 1, product.rows.index);

  const std::vector<std::int64_t>& columns = product.cols.index;
  const auto width = static_cast<std::int64_t>(columns.size());
  for_column_parts(operands, [&](const at::Tensor& part, std::int64_t first) {
    product.other.maxima.add(part);
    if (part.size(1) == width && first == 0) {
      product.other.part = part;
      return;
    }
    const auto begin = std::lower_bound(columns.begin(), columns.end(), first);
    const auto end = std::lower_bound(begin, columns.end(), first + part.size(1));
    std::vector<std::int64_t> local(begin, end);
    for (auto& column : local) column -= first;
    if (!product.other.part.defined()) {
      product.other.part = at::empty({part.size(0), width}, part.options());
    }
    product.other.part.narrow(1, begin - columns.begin(), end - begin)
        .copy_(gathered(part, 1, local));
  });
  add_extractions(
      schemes, gy.matrix,
      [&](const auto& visit) {
        for_column_parts(operands, [&](const at::Tensor& part, std::int64_t) { visit(part); });
      },
      product);
  return product;
}

}  // namespace hot::measure
