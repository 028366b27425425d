#include "analyzers/measure/operand_facts.hpp"

#include <algorithm>

#include "analyzers/measure/outliers.hpp"
#include "kernels/backward.hpp"

namespace hot::measure {
namespace {

constexpr Transform kHadamard16{Transform::Kind::hadamard, 16, 16, Basis::sequency};

/// Each weight for as many lines as the kernel has places.
std::vector<double> repeated(const std::vector<double>& weights, std::int64_t times) {
  std::vector<double> result;
  for (const double w : weights) result.insert(result.end(), static_cast<std::size_t>(times), w);
  return result;
}

/// Σ over the other dimension's lines, each with its weight.
Energies weighted_energies(const at::Tensor& part, const std::vector<double>& row_weight,
                           const std::vector<double>& col_weight) {
  const std::int64_t rows = part.size(0);
  const std::int64_t cols = part.size(1);
  Energies result{std::vector<double>(static_cast<std::size_t>(rows)),
                  std::vector<double>(static_cast<std::size_t>(cols))};
  const float* data = part.const_data_ptr<float>();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const double v = data[i * cols + j];
      const auto r = static_cast<std::size_t>(i);
      const auto c = static_cast<std::size_t>(j);
      result.rows[r] += (col_weight.empty() ? 1 : col_weight[c]) * v * v;
      result.cols[c] += (row_weight.empty() ? 1 : row_weight[r]) * v * v;
    }
  }
  return result;
}

/// Weights stand for lines that were not looked at: each energy as often as that.
std::vector<double> spread(const std::vector<double>& energies, const std::vector<double>& weight) {
  if (weight.empty()) return energies;
  std::vector<double> result;
  for (std::size_t i = 0; i < energies.size(); ++i) {
    result.insert(result.end(), static_cast<std::size_t>(std::max(1.0, weight[i] + 0.5)),
                  energies[i]);
  }
  return result;
}

OperandFacts facts_of(Path path, const char* name, const Factor& factor,
                      const std::vector<double>& free_weight, const Energies* whole) {
  OperandFacts facts;
  facts.path = path;
  facts.operand = name;
  facts.contracts_rows = factor.along == kernels::Along::rows;
  const std::vector<double> none;
  const std::vector<double>& row_weight = facts.contracts_rows ? none : free_weight;
  const std::vector<double>& col_weight = facts.contracts_rows ? free_weight : none;
  const Energies part = weighted_energies(factor.part, row_weight, col_weight);
  const Concentration rows =
      concentration(whole != nullptr ? whole->rows : spread(part.rows, row_weight));
  const Concentration cols =
      concentration(whole != nullptr ? whole->cols : spread(part.cols, col_weight));
  facts.row_share = rows.share;
  facts.col_share = cols.share;
  facts.side = outlier_side(rows, cols);
  facts.kurtosis = kurtosis(factor.part, row_weight, col_weight);
  facts.kurtosis_after = kurtosis(kernels::transformed(factor.part, factor.along, kHadamard16),
                                  row_weight, col_weight);
  return facts;
}

}  // namespace

std::vector<OperandFacts> operand_facts(const Product& product, const Energies& gy_energies) {
  const char* other = product.path == Path::grad_input ? "weight" : "x";
  return {facts_of(product.path, "gy", product.gy, repeated(product.rows.weight, product.places),
                   &gy_energies),
          facts_of(product.path, other, product.other,
                   repeated(product.cols.weight, product.places), nullptr)};
}

}  // namespace hot::measure
