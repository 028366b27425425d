#pragma once

#include <functional>
#include <string_view>

#include "reports/export.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {

/// What every exported document begins with: schema, the classes that it is for, model and policy.
[[nodiscard]] Json export_head(const Plan& plan, std::string_view schema, std::string_view target);

/// The document with what it lacks at its end, as text.
[[nodiscard]] Exported exported(Json document, std::vector<Loss> differs,
                                std::vector<Loss> not_expressed);

/// A linear layer's weight is a matrix.
[[nodiscard]] bool is_linear(const LayerPlan& layer);

/// Calls `use(path, scheme)` for both gradients of a layer that are not exact.
void for_each_pick(const LayerPlan& layer, const std::function<void(Path, const Scheme&)>& use);

}  // namespace hot::reports
