#include "models/inputs/build_value.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "models/inputs/signature.hpp"
#include "tests/models/hand_made.hpp"

namespace hot::models {
namespace {

using testing::hand_made;
using ::testing::HasSubstr;
using testing::message_of;

c10::IValue make(const std::string& spec, const c10::TypePtr& type) {
  return build_value(parse_value(spec), type, "x", at::detail::createCPUGenerator(0));
}

/// Type of the only argument of a function that declares it as `text`.
c10::TypePtr type_of(const std::string& text) {
  return method_arguments(hand_made("def forward(self, x: " + text + "):\n  return x"))[0].type;
}

TEST(BuildValue, TensorsHaveTypeShapeAndRange) {
  const at::Tensor tokens = make("int64:64x32:3..7", type_of("Tensor")).toTensor();
  EXPECT_EQ(tokens.scalar_type(), at::kLong);
  EXPECT_EQ(tokens.min().item<int>(), 3);
  EXPECT_EQ(tokens.max().item<int>(), 7);
  const at::Tensor uniform = make("float32:1000:2..3", type_of("Tensor")).toTensor();
  EXPECT_GE(uniform.min().item<float>(), 2);
  EXPECT_LE(uniform.max().item<float>(), 3);
  const at::Tensor normal = make("float64:10000", type_of("Tensor")).toTensor();
  EXPECT_EQ(normal.scalar_type(), at::kDouble);
  EXPECT_NEAR(normal.mean().item<double>(), 0, 0.05);
  EXPECT_NEAR(normal.std().item<double>(), 1, 0.05);
}

TEST(BuildValue, TheSeedFixesEverything) {
  EXPECT_TRUE(
      make("4x4", type_of("Tensor")).toTensor().equal(make("4x4", type_of("Tensor")).toTensor()));
}

/// The interpreter checks argument types exactly: a list of the wrong element type would be
/// refused.
TEST(BuildValue, ContainersGetTheSchemasTypes) {
  const struct {
    const char* type;
    const char* spec;
  } cases[] = {
      {"List[Tensor]", "[2x3,4]"},
      {"List[Dict[str, Tensor]]", "[{boxes:4x4,labels:int64:4:0..9}]"},
      {"Dict[str, Tensor]", "{a:2,b:int64:3}"},
      {"Dict[int, Tensor]", "{0:2,7:3}"},
      {"Tuple[Tensor, int, Optional[Tensor]]", "(2x3,int:4,none)"},
      {"Optional[Tuple[Tensor, Tensor]]", "(2,3)"},
      {"Optional[Tensor]", "none"},
      {"Optional[Tensor]", "2x3"},
      {"List[str]", "[str:a,str:b]"},
      {"List[int]", "[int:1,int:2]"},
      {"List[List[float]]", "[[float:1],[float:2,int:3]]"},
      {"int", "int:16000"},
      {"float", "float:0.5"},
      {"bool", "bool:true"},
      {"str", "str:abc"},
      {"Tensor", "int:3"},
  };
  for (const auto& test : cases) {
    Model model = hand_made(std::string("def forward(self, x: ") + test.type + "):\n  return x");
    const c10::IValue value = make(test.spec, method_arguments(model)[0].type);
    const c10::IValue back = model.module.forward({value});
    EXPECT_TRUE(back.type()->isSubtypeOf(*type_of(test.type)))
        << test.type << " from " << test.spec;
  }
}

TEST(BuildValue, MismatchesNameArgumentTypeAndRemedy) {
  const auto message = [](const std::string& spec, const std::string& type) {
    return message_of<UsageError>([&] { make(spec, type_of(type)); });
  };
  EXPECT_THAT(message("2x3", "int"),
              HasSubstr("argument 'x' is a int, not float32 2x3; give --input x=int:N"));
  EXPECT_THAT(message("int:3", "List[Tensor]"), HasSubstr("[VALUE"));
  EXPECT_THAT(message("(2)", "Tuple[Tensor, Tensor]"), HasSubstr("with 2 values"));
  EXPECT_THAT(message("none", "Tensor"), HasSubstr("None"));
  EXPECT_THAT(message("[2,int:1]", "List[Tensor]"), ::testing::IsEmpty());
  EXPECT_THAT(message("[str:a]", "List[Tensor]"), HasSubstr("x[0]"));
}

/// 10^15 floats are refused before anything is allocated: the test would not survive otherwise.
TEST(BuildValue, AbsurdSizesAreRefused) {
  EXPECT_THAT(message_of<UsageError>([] { make("1000000x1000000x1000", type_of("Tensor")); }),
              HasSubstr("give smaller sizes"));
}

}  // namespace
}  // namespace hot::models
