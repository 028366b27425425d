#pragma once

#include <algorithm>
#include <vector>

#include "core/scheme_parts.hpp"

namespace hot::testing {

/// Transforms of every family, with a few orders, ranks, bases and spans, for samples of 49 rows.
inline std::vector<Transform> all_transforms() {
  std::vector<Transform> transforms;
  const auto add = [&](const Transform& t) {
    if (std::find(transforms.begin(), transforms.end(), t) == transforms.end())
      transforms.push_back(t);
  };
  for (const TransformPart& part : transform_parts()) {
    if (part.value == Transform::Kind::none) add({});
    if (part.value == Transform::Kind::patch) {
      add({part.value, 8, 10, Basis::lp_l1});
      Transform on_grid{part.value, 4, 3, Basis::lp_l1};
      on_grid.grid = {1, 6, 8};
      add(on_grid);
    }
    if (part.value == Transform::Kind::none || part.value == Transform::Kind::patch) continue;
    const bool lowrank = part.value == Transform::Kind::lowrank;
    for (const int order : {2, 4, 16, 32, 1024}) {
      for (const int rank : {1, order / 2, order}) {
        for (const auto& basis : basis_parts()) {
          for (const auto& span : span_parts()) {
            if (!basis_fits(basis.value, order)) continue;
            if (span.value == Span::divisor && basis.value != Basis::sequency) continue;
            Transform t{part.value, order, lowrank ? rank : order,
                        lowrank ? basis.value : Basis::sequency};
            t.span = span.value;
            if (span.value != Span::flat) t.sample_rows = 49;
            if (t.basis == Basis::energy)
              t.kept = ((std::uint64_t{1} << rank) - 1) << (order - rank);
            add(t);
          }
        }
      }
    }
  }
  return transforms;
}

/// A product of every part in the tables: all transforms, formats of both operands, granularities
/// of both, roundings, with and without outlier extraction. Holds each scheme that can be written
/// once, legal on some path or not.
inline std::vector<Scheme> all_schemes() {
  std::vector<Scheme> schemes;
  const auto add_formats = [&](const Transform& transform, Format format, Format other) {
    for (const auto& granularity : granularity_parts()) {
      for (const auto& of_other : granularity_parts()) {
        if (own_block(format) > 0 && granularity.value != Granularity::tensor) continue;
        const Format second = other == Format::none ? format : other;
        if (own_block(second) > 0 && of_other.value != Granularity::tensor) continue;
        for (const auto& rounding : rounding_parts()) {
          Scheme scheme{transform, format, granularity.value, of_other.value, rounding.value};
          scheme.other_format = other;
          if (granularity.value == Granularity::block || of_other.value == Granularity::block)
            scheme.block = 24;
          schemes.push_back(scheme);
        }
      }
    }
  };
  for (const Transform& transform : all_transforms()) {
    schemes.push_back({transform, Format::none, {}, {}, {}});
    if (transform.kind == Transform::Kind::patch) continue;
    for (const auto& format : format_parts()) add_formats(transform, format.value, Format::none);
    if (transform.order > 16 || transform.span != Span::flat) continue;
    for (const auto& format : format_parts()) {
      if (format.value != Format::int4) add_formats(transform, format.value, Format::int4);
    }
    Scheme extracting{transform, Format::int4, {}, {}, Rounding::stochastic};
    extracting.outliers = 3;
    schemes.push_back(extracting);
  }
  return schemes;
}

}  // namespace hot::testing
