#include "analyzers/select/front.hpp"

#include <gtest/gtest.h>

#include "analyzers/select/optimize.hpp"
#include "tests/analyzers/select/fixture.hpp"

namespace hot::select {
namespace {

using testing::linear;
using testing::row;

struct Case {
  Trace trace;
  ErrorTable errors;

  /// Two layers with a fast, a middling and hot's scheme for each gradient.
  Case() {
    trace.layers = {linear("a"), linear("b")};
    trace.saved_bytes = 1000;
    for (const char* layer : {"a", "b"}) {
      LayerFacts facts{layer, {}};
      for (const char* name : {"exact_input_ms", "exact_weight_ms"})
        facts.metrics.set(name, 10, Origin::measured);
      for (const char* name : {"input_share", "weight_share"})
        facts.metrics.set(name, 0.25, Origin::measured);
      errors.facts.push_back(facts);
      errors.activations.push_back({400, {layer}, false});
      add(layer, Path::grad_input, "none+int8", 0.01, 5);
      add(layer, Path::grad_input, "had16+int4/tensor/stochastic", 0.3, 4);
      add(layer, Path::grad_weight, "none+int8", 0.01, 5);
      add(layer, Path::grad_weight, "low16r8.sequency+int8/tensor", 0.5, 2);
    }
  }

  void add(const char* layer, Path path, const char* scheme, double error, double ms) {
    ErrorRow r = row(layer, path, scheme, error);
    r.metrics.set("time_ms", ms, Origin::measured);
    if (path == Path::grad_weight) r.metrics.set("kept_bytes", 100, Origin::measured);
    errors.rows.push_back(r);
  }

  [[nodiscard]] std::vector<FrontPoint> points() const {
    const WholePlan whole = whole_plan(trace, errors, {}, {});
    return front(whole, whole.exact, errors);
  }
};

// Along each curve the error falls and what it costs doesn't; the last point is the exact plan.
TEST(FrontTest, CurvesAreMonotone) {
  for (const char* kind : {"time", "memory"}) {
    const FrontPoint* last = nullptr;
    int count = 0;
    const std::vector<FrontPoint> points = Case().points();
    for (const FrontPoint& p : points) {
      if (p.kind != kind) continue;
      ++count;
      if (last != nullptr) {
        EXPECT_LE(p.error, last->error);
        if (p.kind == "time") {
          EXPECT_GE(p.ms, last->ms);
        } else {
          EXPECT_GE(p.saved_bytes, last->saved_bytes);
        }
      }
      last = &p;
    }
    EXPECT_GE(count, 3) << kind;
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->error, 0);
  }
}

// No method's plan lies below the front: at its error there is a plan that is no slower, at its
// time one that is no worse.
TEST(FrontTest, NoMethodBeatsTheFront) {
  const Case c;
  const WholePlan whole = whole_plan(c.trace, c.errors, {}, {});
  bool any = false;
  for (const FrontPoint& mark : c.points()) {
    if (mark.kind != "mark" || (mark.name != "hot" && mark.name != "hlq")) continue;
    any = true;
    Options at_its_error;
    at_its_error.max_error = {mark.error * (1 + 1e-9), false, ""};
    const Bounds bounds = bounds_of(whole, c.errors, at_its_error);
    EXPECT_LE(best_plan(whole, bounds, at_its_error).totals.time, mark.ms * (1 + 1e-9));
    Options at_its_time;
    at_its_time.max_error.value = 0;
    at_its_time.time_budget = {mark.ms * (1 + 1e-9), false, ""};
    const Bounds in_time = bounds_of(whole, c.errors, at_its_time);
    EXPECT_LE(best_plan(whole, in_time, at_its_time).totals.error,
              mark.error * mark.error * (1 + 1e-6));
  }
  EXPECT_TRUE(any);
}

}  // namespace
}  // namespace hot::select
