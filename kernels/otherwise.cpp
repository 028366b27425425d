#include "kernels/otherwise.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "kernels/adapted_rows.hpp"
#include "kernels/block_product.hpp"
#include "kernels/patches.hpp"
#include "kernels/rounded.hpp"

namespace hot::kernels {
namespace {

at::Tensor all_rows(const RowSource& in) {
  at::Tensor matrix = at::empty({in.rows, in.cols}, at::kFloat);
  float* out = matrix.mutable_data_ptr<float>();
  at::parallel_for(0, in.rows, 1 + 32768 / std::max<std::int64_t>(1, in.cols),
                   [&](std::int64_t begin, std::int64_t end) {
                     in.fill(begin, end, 0, in.cols, out + begin * in.cols);
                   });
  return matrix;
}

Operand made_by(const RowSource& in, const Recipe& recipe) {
  return prepare_all(in, std::span(&recipe, 1)).front();
}

/// The rest of a recipe whose rows are adapted already.
Operand flat_operand(const RowSource& in, const Recipe& recipe) {
  if (is_plain(recipe)) return made_by(in, recipe);
  if (is_integer(recipe.format) && recipe.granularity != Granularity::block) {
    Recipe levels = recipe;  // as floats
    levels.as_floats = false;
    return as_floats(made_by(in, levels));
  }
  const Recipe float_recipe{recipe.along, recipe.transform};
  const at::Tensor transformed = made_by(in, float_recipe).values;
  return rounded(transformed, recipe, scales_of(transformed, recipe));
}

}  // namespace

bool is_plain(const Recipe& recipe) {
  const Transform& t = recipe.transform;
  return !recipe.deferred && !recipe.as_floats && t.span == Span::flat &&
         t.kind != Transform::Kind::rht && t.kind != Transform::Kind::patch &&
         (recipe.format == Format::none || is_integer(recipe.format)) &&
         recipe.granularity != Granularity::block;
}

Operand prepare_otherwise(const RowSource& a, const Recipe& recipe) {
  const at::AutoDispatchBelowAutograd no_autograd;
  if (recipe.deferred) {
    Operand operand{all_rows(a), {}, recipe.along, Transform{}, Format::none, Granularity::tensor};
    operand.deferred = recipe.deferred;
    operand.seed = recipe.seed;
    return operand;
  }
  if (recipe.transform.kind == Transform::Kind::patch) {
    const at::Tensor rows = all_rows(a);
    return {recipe.along == Along::cols ? low_passed(rows, recipe.transform)
                                        : projected(rows, recipe.transform),
            {},
            recipe.along,
            Transform{},
            Format::none,
            Granularity::tensor};
  }
  Recipe flat = recipe;
  flat.transform = flat_transform(recipe.transform);
  return flat_operand(adapted_rows(a, recipe.along, recipe.transform), flat);
}

Operand prepare_otherwise(const at::Tensor& a, const Recipe& recipe) {
  return prepare_otherwise(rows_of_matrix(a), recipe);
}

}  // namespace hot::kernels
