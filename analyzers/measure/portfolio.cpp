#include "analyzers/measure/portfolio.hpp"

#include <algorithm>
#include <iterator>

#include "analyzers/measure/options.hpp"
#include "core/scheme_parts.hpp"

namespace hot::measure {
namespace {

constexpr Granularity kGranularities[] = {Granularity::tensor, Granularity::row,
                                          Granularity::column};

void add_formats(std::vector<Scheme>& schemes, const Transform& transform,
                 std::initializer_list<Format> formats) {
  for (const Format format : formats) {
    for (const Granularity granularity : kGranularities) {
      for (const auto rounding : {Rounding::nearest, Rounding::stochastic})
        schemes.push_back({transform, format, granularity, Granularity::tensor, rounding});
    }
  }
}

Transform hadamard(int order, Transform::Kind kind = Transform::Kind::hadamard) {
  return {kind, order, order, Basis::sequency};
}

/// What the wider portfolio has beside the default: the rest of the grammar, thinned where parts
/// don't depend on each other.
void add_others(std::vector<Scheme>& schemes) {
  for (const int order : {8, 32, 64, 128})
    add_formats(schemes, hadamard(order), {Format::int8, Format::int4});
  for (const int order : {8, 16, 32, 64, 128})
    add_formats(schemes, hadamard(order, Transform::Kind::rht), {Format::int8, Format::int4});
  for (const int order : {8, 16, 32, 64}) {
    for (const int rank : {order / 4, order / 2, order * 5 / 8, order * 3 / 4}) {
      for (const SchemePart<Basis>& basis : basis_parts()) {
        if (!basis_fits(basis.value, order)) continue;
        for (const Format format : {Format::none, Format::int8, Format::int4})
          schemes.push_back({{Transform::Kind::lowrank, order, rank, basis.value}, format});
      }
    }
  }
  for (const char* text : {"had16.sample+int8",
                           "had16.sample+int4",
                           "low16r8.sequency.sample+int8",
                           "low16r8.sequency.divisor+int8",
                           "low16r8.sequency.divisor",
                           "patch8r3",
                           "patch8r10",
                           "patch8r21",
                           "none+int8/block32",
                           "none+int4/block32",
                           "had16+int4/block32",
                           "none+int4/block32:block32",
                           "none+int8/tensor:column",
                           "none+int4/tensor:column",
                           "had16+int4/row:column",
                           "had16+int4/column:column",
                           "none+int8+oe16",
                           "none+int4+oe16",
                           "had16+int4+oe16",
                           "had16+int4/stochastic+oe16",
                           "none+luq4:int4/stochastic"})
    schemes.push_back(parse_scheme(text));
  for (const FormatPart& format : format_parts()) {
    if (is_integer(format.value)) continue;
    for (const Transform& transform :
         {Transform{}, hadamard(16), hadamard(16, Transform::Kind::rht)})
      for (const auto rounding : {Rounding::nearest, Rounding::stochastic})
        schemes.push_back(
            {transform, format.value, Granularity::tensor, Granularity::tensor, rounding});
  }
}

}  // namespace

std::vector<Scheme> default_portfolio() {
  std::vector<Scheme> schemes;
  for (const Transform& transform : {Transform{}, hadamard(16)})
    add_formats(schemes, transform, {Format::int8, Format::int4});
  for (const int rank : {4, 8, 12}) {
    for (const Format format : {Format::none, Format::int8, Format::int4})
      schemes.push_back({{Transform::Kind::lowrank, 16, rank, Basis::sequency}, format});
  }
  return schemes;
}

std::vector<Scheme> whole_portfolio() {
  std::vector<Scheme> schemes = default_portfolio();
  add_others(schemes);
  std::vector<Scheme> unique;
  for (const Scheme& scheme : schemes)
    if (std::find(unique.begin(), unique.end(), scheme) == unique.end()) unique.push_back(scheme);
  return unique;
}

std::vector<Scheme> legal_schemes(const std::vector<Scheme>& schemes, Path path) {
  std::vector<Scheme> legal;
  std::ranges::copy_if(schemes, std::back_inserter(legal),
                       [path](const Scheme& scheme) { return !why_illegal(scheme, path); });
  return legal;
}

}  // namespace hot::measure
