#include "analyzers/measure/portfolio.hpp"

#include <gtest/gtest.h>

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

// 4 transforms × 2 formats × 3 granularities × 2 roundings, and 4 ranks × 2 bases × 3 formats.
TEST(Portfolio, HasEverySchemeOnceAndAllCanBeParsed) {
  const auto schemes = default_portfolio();
  EXPECT_EQ(schemes.size(), 48 + 24);
  EXPECT_EQ(names(schemes).size(), schemes.size());
  for (const Scheme& scheme : schemes) EXPECT_EQ(parse_scheme(to_string(scheme)), scheme);
}

TEST(Portfolio, LegalSchemesOfEachPath) {
  for (const Path path : {Path::grad_input, Path::grad_weight}) {
    const auto legal = legal_schemes(default_portfolio(), path);
    EXPECT_EQ(legal.size(), 32 + 24);
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
