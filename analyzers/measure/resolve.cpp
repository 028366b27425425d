#include "analyzers/measure/resolve.hpp"

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analyzers/measure/estimate.hpp"
#include "kernels/common/hadamard.hpp"

namespace hot::measure {
namespace {

constexpr int kPrefixes[] = {0, 1, 2, 5};

Grid square_grid(std::int64_t tokens) {
  for (const int prefix : kPrefixes) {
    const auto side = static_cast<int>(
        std::lround(std::sqrt(static_cast<double>(std::max<std::int64_t>(0, tokens - prefix)))));
    if (side >= 2 && std::int64_t{side} * side == tokens - prefix) return {prefix, side, side};
  }
  return {};
}

Grid grid_of(const backward::Operands& o, std::int64_t rows) {
  const auto grid = [](std::int64_t height, std::int64_t width) -> Grid {
    if (height < 2 || width < 2 || height * width > std::numeric_limits<int>::max()) return {};
    return {0, static_cast<int>(height), static_cast<int>(width)};
  };
  if (o.window.convolution) {
    const at::IntArrayRef image = o.window.transposed ? at::IntArrayRef(o.x_sizes) : o.gy.sizes();
    return image.size() == 4 ? grid(image[2], image[3]) : Grid{};
  }
  if (o.x_sizes.size() == 4) return grid(o.x_sizes[1], o.x_sizes[2]);
  return square_grid(rows);
}

/// Rows L of the layer's matrices.
std::int64_t rows_of(const backward::Operands& o) {
  if (!o.window.convolution) return o.gy.numel() / std::max<std::int64_t>(1, o.gy.size(-1));
  const at::IntArrayRef image = o.window.transposed ? at::IntArrayRef(o.x_sizes) : o.gy.sizes();
  return image[0] * c10::multiply_integers(image.slice(2));
}

/// The product's parts restricted to one row of H_n in each block, for all rows: [n][entries].
at::Tensor contributions(const Product& product, int order) {
  const Transform full{Transform::Kind::hadamard, order, order, Basis::sequency};
  const at::Tensor gy = kernels::transformed(product.gy.part, product.gy.along, full);
  const at::Tensor other = kernels::transformed(product.other.part, product.other.along, full);
  std::vector<at::Tensor> blocks;
  for (int sequency = 0; sequency < order; ++sequency) {
    const std::int64_t row = kernels::row_of_sequency(sequency, order);
    const auto of_row = [&](const at::Tensor& part, kernels::Along along) -> kernels::Operand {
      const std::int64_t dim = along == kernels::Along::rows ? 0 : 1;
      const at::Tensor values = part.slice(dim, row, part.size(dim), order).contiguous();
      return {values, {}, along, Transform{}, Format::none, Granularity::tensor};
    };
    blocks.push_back(
        estimate(product, of_row(gy, product.gy.along), of_row(other, product.other.along))
            .reshape({-1}));
  }
  return at::stack(blocks);
}

/// √weight of each entry of the compared block.
at::Tensor entry_weights(const Product& product) {
  const auto vector = [](const std::vector<double>& weight) {
    return at::tensor(weight, at::kDouble).sqrt();
  };
  return at::outer(vector(product.rows.weight), vector(product.cols.weight)).reshape({-1});
}

/// Greedy choice of `count` of n contributions with these inner products.
std::uint64_t greedy(const at::Tensor& gram, int count) {
  const auto g = gram.accessor<double, 2>();
  const std::int64_t n = gram.size(0);
  std::uint64_t kept = 0;
  for (int step = 0; step < count; ++step) {
    double best = -std::numeric_limits<double>::infinity();
    std::int64_t choice = -1;
    for (std::int64_t s = 0; s < n; ++s) {
      if ((kept >> s & 1) != 0) continue;
      double gain = -g[s][s];  // of ‖Σ of what is left out‖² when s is kept
      for (std::int64_t j = 0; j < n; ++j)
        if ((kept >> j & 1) == 0) gain += 2 * g[s][j];
      if (gain > best) {
        best = gain;
        choice = s;
      }
    }
    kept |= std::uint64_t{1} << choice;
  }
  return kept;
}

}  // namespace

std::int64_t samples_of(const models::Batch& batch) {
  for (const c10::IValue& input : batch.inputs)
    if (input.isTensor() && input.toTensor().dim() > 0) return input.toTensor().size(0);
  return 0;
}

RowLayout row_layout(const backward::Operands& o, std::int64_t samples) {
  RowLayout layout;
  const std::int64_t rows = rows_of(o);
  const bool leading = o.x_sizes.size() > 2 && !o.window.convolution;
  if (o.window.convolution) samples = o.x_sizes[0];
  if (samples <= 0 || rows % samples != 0 || rows / samples > std::numeric_limits<int>::max() ||
      (leading && o.x_sizes[0] % samples != 0))
    return layout;
  layout.sample_rows = static_cast<int>(rows / samples);
  // Windows of an image, [N · windows, tokens, C], are no image in their order.
  if (!leading || o.x_sizes[0] == samples) layout.grid = grid_of(o, layout.sample_rows);
  return layout;
}

std::optional<Scheme> resolved(const Scheme& scheme, const RowLayout& layout,
                               std::string& why_not) {
  Scheme result = scheme;
  Transform& t = result.transform;
  if (t.kind == Transform::Kind::patch && t.grid.height == 0) {
    if (layout.grid.height == 0) {
      why_not = "its rows are no image or grid of patches";
      return std::nullopt;
    }
    t.grid = layout.grid;
  }
  if (t.span != Span::flat && t.sample_rows == 0) {
    if (layout.sample_rows == 0) {
      why_not = "its rows don't follow each other sample by sample";
      return std::nullopt;
    }
    t.sample_rows = layout.sample_rows;
  }
  return result;
}

Scheme with_energy_rows(const Scheme& scheme, const Product& product) {
  const Transform& t = scheme.transform;
  if (t.kind != Transform::Kind::lowrank || t.basis != Basis::energy || t.kept != 0) return scheme;
  const at::Tensor parts =
      contributions(product, t.order).to(at::kDouble).mul_(entry_weights(product));
  Scheme chosen = scheme;
  chosen.transform.kept = greedy(at::mm(parts, parts.t()).contiguous(), t.rank);
  return chosen;
}

}  // namespace hot::measure
