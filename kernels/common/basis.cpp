#include "kernels/common/basis.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernels/common/hadamard.hpp"

namespace hot::kernels {
namespace {

int side_of_square(int order) {
  const int bits = log2_of(order);
  if (bits % 2 != 0)
    throw std::logic_error("the lp_l1 basis needs a square order, not " + std::to_string(order));
  return 1 << (bits / 2);
}

/// i + j of the place of `sequency` on a snake whose even rows run left to right.
int snake_distance(int sequency, int side) {
  const int row = sequency / side;
  const int along = sequency % side;
  return row + (row % 2 == 0 ? along : side - 1 - along);
}

}  // namespace

std::vector<int> sequencies_in_order(int order, Basis basis) {
  if (order < 1 || (order & (order - 1)) != 0)
    throw std::logic_error("a block's order is a power of two, not " + std::to_string(order));
  std::vector<int> sequencies(static_cast<std::size_t>(order));
  std::iota(sequencies.begin(), sequencies.end(), 0);
  if (basis == Basis::energy) throw std::logic_error("the basis energy keeps what it is told to");
  if (basis == Basis::lp_l1) {
    const int side = side_of_square(order);
    std::ranges::stable_sort(sequencies, {}, [side](int s) { return snake_distance(s, side); });
  }
  return sequencies;
}

std::vector<int> kept_rows(const Transform& transform) {
  const int order = transform.order;
  if (transform.kind != Transform::Kind::lowrank) {
    if (order < 1 || (order & (order - 1)) != 0)
      throw std::logic_error("a block's order is a power of two, not " + std::to_string(order));
    std::vector<int> rows(static_cast<std::size_t>(order));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  if (transform.rank < 1 || transform.rank > order)
    throw std::logic_error("rank " + std::to_string(transform.rank) + " of a block of " +
                           std::to_string(order));
  std::vector<int> rows;
  if (transform.basis == Basis::energy) {
    for (int sequency = 0; sequency < order && sequency < 64; ++sequency)
      if ((transform.kept >> sequency & 1) != 0) rows.push_back(sequency);
    if (static_cast<int>(rows.size()) != transform.rank)
      throw std::logic_error("the rows that energy keeps aren't chosen");
  } else {
    rows = sequencies_in_order(order, transform.basis);
    rows.resize(static_cast<std::size_t>(transform.rank));
  }
  for (int& row : rows) row = row_of_sequency(row, order);
  return rows;
}

}  // namespace hot::kernels
