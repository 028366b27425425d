#include "analyzers/measure/portfolio.hpp"

#include <algorithm>
#include <iterator>

#include "analyzers/measure/options.hpp"

namespace hot::measure {
namespace {

constexpr Format kIntegers[] = {Format::int8, Format::int4};

void add_full_rank(std::vector<Scheme>& schemes) {
  for (const int order : {1, 8, 16, 32}) {
    const auto kind = order == 1 ? Transform::Kind::none : Transform::Kind::hadamard;
    const Transform transform{kind, order, order, Basis::sequency};
    for (const Format format : kIntegers) {
      for (const auto granularity : {Granularity::tensor, Granularity::row, Granularity::column}) {
        for (const auto rounding : {Rounding::nearest, Rounding::stochastic}) {
          schemes.push_back({transform, format, granularity, Granularity::tensor, rounding});
        }
      }
    }
  }
}

void add_low_rank(std::vector<Scheme>& schemes) {
  for (const int rank : {4, 8, 10, 12}) {
    for (const Basis basis : {Basis::sequency, Basis::lp_l1}) {
      for (const Format format : {Format::none, Format::int8, Format::int4}) {
        schemes.push_back({{Transform::Kind::lowrank, 16, rank, basis}, format});
      }
    }
  }
}

}  // namespace

std::vector<Scheme> default_portfolio() {
  std::vector<Scheme> schemes;
  add_full_rank(schemes);
  add_low_rank(schemes);
  return schemes;
}

std::vector<Scheme> legal_schemes(const std::vector<Scheme>& schemes, Path path) {
  std::vector<Scheme> legal;
  std::ranges::copy_if(schemes, std::back_inserter(legal),
                       [path](const Scheme& scheme) { return !why_illegal(scheme, path); });
  return legal;
}

}  // namespace hot::measure
