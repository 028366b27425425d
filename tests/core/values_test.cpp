#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/error_table.hpp"
#include "core/interrupt.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"
#include "core/verification.hpp"

namespace hot {
namespace {

TEST(Values, EnumeratorsHaveDistinctNames) {
  std::set<std::string> kinds;
  for (int kind = 0; kind <= static_cast<int>(LayerKind::other); ++kind) {
    kinds.insert(to_string(static_cast<LayerKind>(kind)));
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(LayerKind::other) + 1);
  std::set<std::string> outcomes;
  for (int outcome = 0; outcome <= static_cast<int>(Outcome::not_run); ++outcome) {
    outcomes.insert(to_string(static_cast<Outcome>(outcome)));
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"passed", "incorrect", "slower", "unsupported",
                                             "over-limit", "simulated", "not-run"}));
}

// Each of the m·n outputs takes k multiplications and k additions.
TEST(Values, FlopsOfAProduct) {
  EXPECT_EQ((GemmShape{3, 5, 7, 1}).flops(), 2 * 3 * 5 * 7);
  EXPECT_EQ((GemmShape{3, 5, 7, 4}).flops(), 4 * 2 * 3 * 5 * 7);
  EXPECT_EQ((GemmShape{100'000, 100'000, 100, 1}).flops(), 2'000'000'000'000);
}

TEST(Values, ErrorsAreFoundByLayerPathAndScheme) {
  ErrorTable table;
  const Scheme scheme = parse_scheme("had16+int8");
  table.rows.push_back({"a", Path::grad_input, scheme, Execution::native, {}});
  table.rows.push_back({"b", Path::grad_weight, scheme, Execution::native, {}});
  EXPECT_EQ(table.find("b", Path::grad_weight, scheme), &table.rows[1]);
  EXPECT_EQ(table.find("b", Path::grad_input, scheme), nullptr);
  EXPECT_EQ(table.find("a", Path::grad_input, Scheme{}), nullptr);
}

// methods.md, section 3: row iff e_r < 0.5·e_t, so a tie at one half stays with tensor.
TEST(Values, LqsTakesRowsBelowHalfTheError) {
  EXPECT_EQ((LqsChoice{"a", 1.0, 0.49}).choice(), Granularity::row);
  EXPECT_EQ((LqsChoice{"a", 1.0, 0.5}).choice(), Granularity::tensor);
  EXPECT_EQ((LqsChoice{"a", 0.0, 0.0}).choice(), Granularity::tensor);
}

TEST(Values, PlanFindsLayersAndKnowsWhenNothingChanges) {
  Plan plan;
  EXPECT_TRUE(plan.all_exact());
  plan.layers.push_back({"a", {}, {}, {}, {}, {}});
  plan.layers.push_back({"b", {}, {}, {}, {}, {}});
  EXPECT_TRUE(plan.all_exact());
  plan.layers[1].grad_weight = parse_scheme("none+int8");
  EXPECT_FALSE(plan.all_exact());
  EXPECT_EQ(plan.find("b"), &plan.layers[1]);
  EXPECT_EQ(plan.find("c"), nullptr);
}

TEST(Values, AnInterruptIsRemembered) {
  EXPECT_NO_THROW(throw_if_interrupted());
  request_interrupt();
  EXPECT_TRUE(interrupt_requested());
  EXPECT_THROW(throw_if_interrupted(), Interrupted);
}

}  // namespace
}  // namespace hot
