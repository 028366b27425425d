#pragma once

#include <algorithm>
#include <vector>

#include "core/scheme_parts.hpp"

namespace hot::testing {

/// A product of every part in the tables: all transforms of a few orders and ranks, all formats,
/// granularities of both operands, and roundings. Holds each scheme once, legal on some path or
/// not.
inline std::vector<Scheme> all_schemes() {
  std::vector<Transform> transforms;
  for (const TransformPart& part : transform_parts()) {
    for (const int order : {2, 4, 16, 32, 1024}) {
      for (const int rank : {1, order / 2, order}) {
        for (const auto& basis : basis_parts()) {
          Transform t{part.value, order, rank, basis.value};
          if (part.value != Transform::Kind::lowrank) {
            t = {part.value, order, order, Basis::sequency};
          }
          if (part.value == Transform::Kind::none) t = {};
          if (!basis_fits(t.basis, order)) continue;
          if (std::find(transforms.begin(), transforms.end(), t) == transforms.end()) {
            transforms.push_back(t);
          }
        }
      }
    }
  }
  std::vector<Scheme> schemes;
  for (const Transform& transform : transforms) {
    schemes.push_back({transform, Format::none, {}, {}, {}});
    for (const auto& format : format_parts()) {
      for (const auto& granularity : granularity_parts()) {
        for (const auto& other : granularity_parts()) {
          for (const auto& rounding : rounding_parts()) {
            schemes.push_back(
                {transform, format.value, granularity.value, other.value, rounding.value});
          }
        }
      }
    }
  }
  return schemes;
}

}  // namespace hot::testing
