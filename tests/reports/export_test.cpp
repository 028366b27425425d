#include "reports/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/errors.hpp"
#include "reports/json_text.hpp"
#include "reports/plan.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;

Plan plan_of(const std::string& input, const std::string& weight,
             const std::vector<std::int64_t>& shape = {16, 32}) {
  Plan plan;
  plan.policy = "auto";
  plan.model = {"abc", 512};
  plan.layers.push_back({"fc", shape, parse_scheme(input), parse_scheme(weight), {}, {}});
  return plan;
}

// Every pick that isn't exact is expressed, or is in one of the two lists: none is dropped.
TEST(Export, NothingIsDroppedInSilence) {
  const std::vector<std::string> schemes = {"exact", "had16", "none+int8/tensor/nearest",
                                            "had16+int4/tensor/stochastic",
                                            "low16r8.sequency+int8/tensor/nearest"};
  for (const ExportFormat& format : export_formats()) {
    for (const std::string& scheme : schemes) {
      for (const std::vector<std::int64_t>& shape :
           {std::vector<std::int64_t>{16, 32}, std::vector<std::int64_t>{16, 3, 3, 3}}) {
        const Exported exported = format.write(plan_of(scheme, scheme, shape));
        EXPECT_EQ(exported.text.back(), '\n');
        if (format.name == "hot" || format.name == "csv") {
          EXPECT_THAT(exported.text, HasSubstr(scheme));
          continue;
        }
        const Json json = Json::parse(exported.text);
        EXPECT_EQ(json["differs"].size(), exported.differs.size());
        EXPECT_EQ(json["not_expressed"].size(), exported.not_expressed.size());
        EXPECT_EQ(exported.differs.size() + exported.not_expressed.size(),
                  scheme == "exact" ? 0U : 2U)
            << format.name << ' ' << scheme;
      }
    }
  }
}

TEST(Export, HotIsThePlan) {
  const Plan plan = plan_of("had16+int4/row/stochastic", "exact");
  EXPECT_EQ(export_format("hot").write(plan).text, write_plan(plan));
  EXPECT_THROW((void)export_format("onnx"), UsageError);
}

// torchao's own arithmetic: a scale per row of gy and column of W, per column of gy and x.
TEST(Export, TorchaoSaysWhatItComputesOtherwise) {
  const Exported same =
      export_torchao(plan_of("none+int8/row:column/nearest", "none+int8/column:column/nearest"));
  EXPECT_TRUE(same.differs.empty());
  EXPECT_EQ(Json::parse(same.text)["layers"],
            (Json{{"fc", {{"output", false}, {"grad_input", true}, {"grad_weight", true}}}}));
  const Exported other = export_torchao(plan_of("none+int8/row/stochastic", "exact"));
  ASSERT_EQ(other.differs.size(), 1U);
  EXPECT_EQ(other.differs[0].why,
            "scales per row of gy and column of W, finer than planned; rounds to nearest, not "
            "stochastically");
  const Exported none = export_torchao(plan_of("had16+int8/tensor/nearest", "none+int4"));
  EXPECT_TRUE(Json::parse(none.text)["layers"].empty());
  ASSERT_EQ(none.not_expressed.size(), 2U);
  EXPECT_EQ(none.not_expressed[1].why, "torchao trains in INT8, not int4");
}

// dgrad reads weight.columnwise and grad_output.rowwise; wgrad input.columnwise and
// grad_output.columnwise; the forward product stays exact.
TEST(Export, TransformerEngineQuantizesTheRolesOfEachGradient) {
  const auto quantizers = [](const Plan& plan) {
    const Json roles = Json::parse(export_transformer_engine(plan).text)["layers"]["fc"];
    std::set<std::string> used;
    for (const char* role : {"input", "weight", "grad_output"}) {
      for (const char* direction : {"rowwise", "columnwise"}) {
        const std::string name = roles[role][direction]["quantizer"];
        if (name != "IdentityQuantizer") {
          used.insert(std::string(role) + ' ' + direction + ' ' + name);
        }
      }
    }
    return used;
  };
  EXPECT_EQ(quantizers(plan_of("none+int8", "exact")),
            (std::set<std::string>{"weight columnwise MXFP8Quantizer",
                                   "grad_output rowwise MXFP8Quantizer"}));
  EXPECT_EQ(quantizers(plan_of("exact", "had16+int4/tensor/stochastic")),
            (std::set<std::string>{"input columnwise NVFP4Quantizer",
                                   "grad_output columnwise NVFP4Quantizer"}));
  EXPECT_TRUE(quantizers(plan_of("exact", "exact")).empty());
  const Json nvfp4 =
      Json::parse(export_transformer_engine(plan_of("exact", "had16+int4/tensor/stochastic"))
                      .text)["layers"]["fc"]["grad_output"]["columnwise"];
  EXPECT_EQ(nvfp4["with_rht"], true);
  EXPECT_EQ(nvfp4["stochastic_rounding"], true);
}

TEST(Export, CsvTakesTheSchemesApart) {
  const std::string text = export_csv(plan_of("exact", "low16r8.lp_l1+int8/column:column")).text;
  EXPECT_THAT(text, HasSubstr("\nfc,grad_input,exact,none,,,,none,,,,,,\n"));
  EXPECT_THAT(text, HasSubstr("\nfc,grad_weight,low16r8.lp_l1+int8/column:column/nearest,lowrank,"
                              "16,8,lp_l1,int8,column,column,nearest,,,\n"));
}

}  // namespace
}  // namespace hot::reports
