#include "analyzers/measure/portfolio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "analyzers/measure/options.hpp"

namespace hot::measure {
namespace {

std::set<std::string> names(const std::vector<Scheme>& schemes) {
  std::set<std::string> result;
  for (const Scheme& scheme : schemes) result.insert(to_string(scheme));
  return result;
}

// 2 transforms × 2 formats × 3 granularities × 2 roundings, and 3 ranks × 3 formats.
TEST(Portfolio, HasEverySchemeOnceAndAllCanBeParsed) {
  EXPECT_EQ(default_portfolio().size(), 24 + 9);
  for (const auto& schemes : {default_portfolio(), whole_portfolio()}) {
    EXPECT_EQ(names(schemes).size(), schemes.size());
    for (const Scheme& scheme : schemes) EXPECT_EQ(parse_scheme(to_string(scheme)), scheme);
  }
}

// The default analysis simulates nothing: such schemes are measured where they are asked for.
TEST(Portfolio, SimulatedSchemesAreInTheWholeAlone) {
  for (const Scheme& scheme : default_portfolio()) EXPECT_FALSE(is_simulated(scheme));
  const auto whole = whole_portfolio();
  EXPECT_TRUE(std::any_of(whole.begin(), whole.end(), is_simulated));
}

TEST(Portfolio, LegalSchemesOfEachPath) {
  for (const Path path : {Path::grad_input, Path::grad_weight}) {
    const auto legal = legal_schemes(default_portfolio(), path);
    EXPECT_EQ(legal.size(), 16 + 9);
    for (const Scheme& scheme : legal) EXPECT_FALSE(why_illegal(scheme, path));
  }
}

TEST(Portfolio, HoldsWhatThePresetsUse) {
  const auto grad_input = names(legal_schemes(default_portfolio(), Path::grad_input));
  const auto grad_weight = names(legal_schemes(default_portfolio(), Path::grad_weight));
  EXPECT_TRUE(grad_input.contains("had16+int4/tensor/stochastic"));
  EXPECT_TRUE(grad_input.contains("had16+int4/row/stochastic"));
  EXPECT_TRUE(grad_weight.contains("low16r8.sequency+int8/tensor/nearest"));
}

}  // namespace
}  // namespace hot::measure
