#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzers/measure/layer_meter.hpp"
#include "kernels/backward.hpp"

namespace hot::measure {
namespace {

using nlohmann::json;

at::Tensor matrix(const json& j) {
  const auto data = j.at("data").get<std::vector<double>>();
  return at::tensor(data, at::kDouble)
      .reshape({j.at("shape").at(0).get<std::int64_t>(), j.at("shape").at(1).get<std::int64_t>()})
      .to(at::kFloat);
}

Scheme scheme_of(const json& c) {
  Scheme scheme;
  const auto& t = c.at("transform");
  if (t.at("kind") == "hadamard") {
    scheme.transform = {Transform::Kind::hadamard, t.at("order"), t.at("order"), Basis::sequency};
  } else if (t.at("kind") == "lowrank") {
    scheme.transform = {Transform::Kind::lowrank, t.at("order"), t.at("rank"),
                        t.at("basis") == "lp_l1" ? Basis::lp_l1 : Basis::sequency};
  }
  const int bits = c.at("bits");
  scheme.format = bits == 0 ? Format::none : bits == 8 ? Format::int8 : Format::int4;
  if (bits != 0 && c.at("granularity") == "row") scheme.granularity = Granularity::row;
  if (bits != 0 && c.at("granularity") == "column") scheme.granularity = Granularity::column;
  return scheme;
}

class Golden : public ::testing::TestWithParam<const char*> {};

// The whole measuring stage on the golden operands gives the golden metrics and LQS choice.
TEST_P(Golden, MetricsAndLqsAreReproduced) {
  std::ifstream file(std::string(HOT_SOURCE_DIR "/tests/golden/") + GetParam());
  const json golden = json::parse(file);
  backward::Operands o;
  o.layer = "golden";
  o.gy = matrix(golden.at("gy"));
  o.weight = matrix(golden.at("w"));
  o.x = matrix(golden.at("x"));
  o.x_sizes = o.x.sizes().vec();
  o.need_grad_input = o.need_grad_weight = true;

  Options options;
  options.work = 1;
  for (const char* path : {"grad_input", "grad_weight"}) {
    for (const json& c : golden.at(path)) {
      const Scheme scheme = scheme_of(c);
      if (std::find(options.schemes.begin(), options.schemes.end(), scheme) ==
          options.schemes.end()) {
        options.schemes.push_back(scheme);
      }
    }
  }
  LayerMeter meter("golden", options.schemes, options);
  meter.add(o);
  ErrorTable table;
  meter.write(table);

  for (const auto& [name, path] :
       {std::pair{"grad_input", Path::grad_input}, {"grad_weight", Path::grad_weight}}) {
    for (const json& c : golden.at(name)) {
      const ErrorRow* row = table.find("golden", path, scheme_of(c));
      ASSERT_NE(row, nullptr) << c.at("transform");
      const auto& expected = c.at("metrics");
      EXPECT_NEAR(row->metrics.value("relative_error"), expected.at("relative_error"), 2e-6);
      EXPECT_NEAR(row->metrics.value("cosine"), expected.at("cosine"), 2e-6);
      const double largest = matrix(c.at("result")).abs().max().item<double>();
      EXPECT_NEAR(row->metrics.value("max_abs_error"), expected.at("max_abs_error"),
                  2e-6 * largest);
    }
  }
  ASSERT_EQ(table.lqs.size(), 1);
  const auto& lqs = golden.at("lqs");
  EXPECT_NEAR(table.lqs[0].error_tensor, lqs.at("error_tensor"), 1e-5);
  EXPECT_NEAR(table.lqs[0].error_row, lqs.at("error_token"), 1e-5);
  EXPECT_EQ(table.lqs[0].choice() == Granularity::row, lqs.at("choice") == "token");
}

INSTANTIATE_TEST_SUITE_P(Files, Golden,
                         ::testing::Values("backward_37x20x11.json", "backward_48x32x24.json",
                                           "backward_197x16x24.json"));

}  // namespace
}  // namespace hot::measure
