#pragma once

#include "core/report.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {

/// `value` in four digits, more than anyone reads; null where it isn't finite.
[[nodiscard]] Json rounded_json(double value);

/// The front and its marks: [kind, name, error, ms, saved bytes] a point, as in FrontPoint; null
/// without a front.
[[nodiscard]] Json html_front(const Report& report);

/// Memory of a step; null where it wasn't observed. `uses` names the columns of a timeline's row
/// after its milliseconds; saved: [layer, bytes, bytes by the plan or null] for every layer that
/// keeps something in either.
[[nodiscard]] Json html_memory(const Report& report);

/// Ceilings of this machine and the place of every product under them: [layer, path (0 forward, 1
/// grad_input, 2 grad_weight), FLOP, bytes of both operands and the result, ms exact, ms by the
/// plan or null]. From timed steps (`profile`), else from the products timed alone; null where the
/// ceilings weren't measured.
[[nodiscard]] Json html_roofline(const Report& report);

/// Milliseconds of one step by layers and operations outside of them; null where steps weren't
/// timed. A row: [layer, eligible, [forward, grad_input, grad_weight, rest], the same by the plan
/// or null]; outside: [name, exact ms, plan ms or null].
[[nodiscard]] Json html_steps(const Report& report);

}  // namespace hot::reports
