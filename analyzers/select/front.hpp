#pragma once

#include <optional>
#include <vector>

#include "analyzers/select/candidates.hpp"
#include "analyzers/select/policies.hpp"
#include "core/plan.hpp"

namespace hot::select {

/// The best plans of all: least time and least memory at falling limits of the whole error (the
/// front), then as marks the plan that was picked, the exact one, and every method preset that was
/// measured whole. Each point is an integer program solved to 0.1 %.
[[nodiscard]] std::vector<FrontPoint> front(const WholePlan& whole, const Totals& picked,
                                            const ErrorTable& errors);

/// What the method's picks come to; nullopt where a scheme of it wasn't measured.
[[nodiscard]] std::optional<Totals> method_totals(const WholePlan& whole, const Policy& policy,
                                                  const ErrorTable& errors);

}  // namespace hot::select
