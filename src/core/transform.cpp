#include "core/transform.hpp"

#include <algorithm>
#include <stdexcept>

namespace hot {

bool is_resolved(const Transform& t) {
  if (t.kind == Transform::Kind::patch) return t.grid.height > 0;
  if (t.kind == Transform::Kind::lowrank && t.basis == Basis::energy && t.kept == 0) return false;
  return t.span == Span::flat || t.sample_rows > 0;
}

Transform without_layer(const Transform& transform) {
  Transform general = transform;
  general.kept = 0;
  general.sample_rows = 0;
  general.grid = {};
  return general;
}

int largest_divisor(int rows) {
  return rows & -rows;
}

Transform flat_transform(const Transform& transform) {
  if (transform.kind == Transform::Kind::patch || !is_resolved(transform)) {
    throw std::logic_error("no blocks of this transform are known");
  }
  Transform flat = transform;
  flat.span = Span::flat;
  flat.sample_rows = 0;
  if (flat.kind == Transform::Kind::rht) flat.kind = Transform::Kind::hadamard;
  if (transform.span != Span::divisor) return flat;
  flat.order = largest_divisor(transform.sample_rows);
  if (flat.order == 1) return {};
  const std::int64_t rank =
      static_cast<std::int64_t>(flat.order) * transform.rank / transform.order;
  flat.rank = static_cast<int>(std::max<std::int64_t>(1, rank));
  return flat;
}

double product_factor(const Transform& transform) {
  if (transform.kind == Transform::Kind::patch) return 1;
  return 1.0 / flat_transform(transform).order;
}

bool has_no_effect(const Transform& transform) {
  return transform.span == Span::divisor && transform.sample_rows > 0 &&
         largest_divisor(transform.sample_rows) == 1;
}

}  // namespace hot
