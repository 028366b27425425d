#include "models/inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "models/inputs/archive_spec.hpp"
#include "models/inputs/infer_inputs.hpp"
#include "models/inputs/traced_inputs.hpp"
#include "tests/models/hand_made.hpp"

namespace hot::models {
namespace {

using ::testing::Contains;
using testing::Folder;
using testing::hand_made;
using ::testing::HasSubstr;
using testing::message_of;

Inputs inputs_of(const Model& model, std::vector<std::string> given = {}, int batch = 0) {
  InputOptions options;
  options.inputs = std::move(given);
  options.batch = batch;
  return make_inputs(model, options);
}

at::Tensor tensor(const Inputs& inputs, std::size_t argument) {
  return inputs.batches[0].inputs[argument].toTensor();
}

Model linear_model() {
  return hand_made("def forward(self, x):\n  return torch.linear(x, self.w)",
                   {{"w", at::randn({5, 7})}});
}

TEST(CommandLine, ComesFirstAndIsDescribed) {
  const Inputs inputs = inputs_of(linear_model(), {"3x7"});
  EXPECT_EQ(inputs.source, "command line");
  EXPECT_EQ(inputs.description, "x float32 3x7");
  EXPECT_EQ(tensor(inputs, 0).sizes(), (std::vector<std::int64_t>{3, 7}));
}

TEST(CommandLine, BatchReplacesTheFirstSize) {
  EXPECT_EQ(inputs_of(linear_model(), {"3x7"}, 6).description, "x float32 6x7");
}

TEST(CommandLine, MinibatchesDifferAndRepeat) {
  InputOptions options;
  options.inputs = {"3x7"};
  options.batches = 2;
  const Inputs once = make_inputs(linear_model(), options);
  const Inputs again = make_inputs(linear_model(), options);
  ASSERT_EQ(once.batches.size(), 2U);
  const auto value = [](const Inputs& inputs, int i) {
    return inputs.batches[i].inputs[0].toTensor();
  };
  EXPECT_FALSE(value(once, 0).equal(value(once, 1)));
  EXPECT_TRUE(value(once, 1).equal(value(again, 1)));
}

TEST(CommandLine, WrongNamesAndCountsAreUsageErrors) {
  const Model model = linear_model();
  EXPECT_THAT(message_of<UsageError>([&] { inputs_of(model, {"y=3x7"}); }),
              HasSubstr("it takes x: Tensor"));
  EXPECT_THAT(message_of<UsageError>([&] {
                inputs_of(model, {"3x7", "3x7"});
              }),
              HasSubstr("2 inputs are given"));
  EXPECT_THAT(message_of<UsageError>([&] {
                inputs_of(model, {"x=3x7", "x=3x7"});
              }),
              HasSubstr("given twice"));
}

TEST(CommandLine, WhatIsLeftOutIsInferredAtTheSameBatch) {
  const Model model = hand_made(
      "def forward(self, x, y, flag: bool = True):\n  return torch.linear(x, self.w) + "
      "torch.linear(y, self.w)",
      {{"w", at::randn({5, 7})}});
  const Inputs inputs = inputs_of(model, {"y=6x7"});
  EXPECT_EQ(inputs.source, "command line and inferred");
  EXPECT_EQ(tensor(inputs, 0).sizes(), (std::vector<std::int64_t>{6, 7}));
  EXPECT_TRUE(inputs.batches[0].inputs[2].toBool());
}

TEST(Archive, TheSpecificationInsideIsUsed) {
  const Folder folder;
  const Model model = linear_model();
  model.module.save(
      folder.file("m.pt"),
      {{"hot_inputs.json",
        R"({"version": 1, "inputs": [{"name": "x", "dtype": "float16", "shape": [4, 7]}],
                      "task": "classification", "mean": [0.5], "std": [0.25]})"}});
  const Model loaded = load_model({folder.file("m.pt"), "forward", {}});
  const Inputs inputs = inputs_of(loaded);
  EXPECT_EQ(inputs.source, "specification in the archive");
  EXPECT_EQ(inputs.description, "x float32 4x7");
  EXPECT_EQ(inputs_of(loaded, {}, 9).description, "x float32 9x7");
  EXPECT_EQ(inputs_of(loaded, {"2x7"}).source, "command line");
  EXPECT_EQ(read_archive_spec(loaded.path)->task, "classification");
}

TEST(Archive, WrongSpecificationsSayWhatIsWrong) {
  const auto message = [](const std::string& text) {
    return message_of<ModelError>([&] { static_cast<void>(parse_archive_spec(text)); });
  };
  EXPECT_THAT(message("{"), HasSubstr("not JSON"));
  EXPECT_THAT(message(R"({"version": 2, "inputs": []})"), HasSubstr("version"));
  EXPECT_THAT(message(R"({"version": 1, "inputs": [], "colour": 1})"), HasSubstr("colour"));
  EXPECT_THAT(message(R"({"version": 1, "inputs": [{"shape": [0]}]})"), HasSubstr("inputs[0]"));
  EXPECT_THAT(message(R"({"version": 1, "inputs": [{"shape": [2], "low": 0}]})"),
              HasSubstr("only one of"));
  EXPECT_THAT(message(R"({"version": 1, "inputs": [{"shape": [2], "dtype": "float33"}]})"),
              HasSubstr("float33"));
  EXPECT_THAT(message(R"({"version": 1, "inputs": [], "mean": [1], "std": [0]})"),
              HasSubstr("std"));
}

/// What each operation demands of its input, hand-derived from its weight.
struct Inference {
  const char* name;
  const char* code;
  testing::Tensors parameters;
  const char* description;
};

class Inferred : public ::testing::TestWithParam<Inference> {};

TEST_P(Inferred, FromTheFirstTypedUser) {
  const Inputs inputs = inputs_of(hand_made(GetParam().code, GetParam().parameters));
  EXPECT_EQ(inputs.source, "inferred");
  EXPECT_EQ(inputs.description, GetParam().description);
  EXPECT_THAT(inputs.notes, Contains(HasSubstr("--input overrides")));
}

INSTANTIATE_TEST_SUITE_P(
    Operations, Inferred,
    ::testing::Values(
        Inference{"linear",
                  "def forward(self, x):\n  return torch.linear(x, self.w)",
                  {{"w", at::randn({5, 7})}},
                  "x float32 2x7"},
        Inference{
            "conv2d",
            "def forward(self, x):\n  return torch.conv2d(torch.relu(x), self.w, None, 1, 0, 1, 2)",
            {{"w", at::randn({4, 3, 3, 3})}},
            "x float32 2x6x224x224"},
        Inference{"conv1d_of_the_transposed",
                  "def forward(self, x):\n  return torch.conv1d(x.transpose(1, 2), self.w)",
                  {{"w", at::randn({4, 3, 3})}},
                  "x float32 2x64x3"},
        Inference{"conv_transpose2d",
                  "def forward(self, x):\n  return torch.conv_transpose2d(x, self.w)",
                  {{"w", at::randn({4, 3, 3, 3})}},
                  "x float32 2x4x224x224"},
        Inference{"embedding",
                  "def forward(self, tokens):\n  return torch.embedding(self.w, tokens)",
                  {{"w", at::randn({50, 4})}},
                  "tokens int64 2x64 in 0..49"},
        Inference{"bag_of_rows",
                  "def forward(self, x):\n  starts = torch.arange(0, x.numel(), x.size(1))\n"
                  "  return torch.embedding_bag(self.w, x.reshape([-1]), starts)[0]",
                  {{"w", at::randn({50, 4})}},
                  "x int64 2x64 in 0..49"},
        Inference{
            "message_about_feature_maps",
            "def forward(self, x):\n  y = torch.avg_pool2d(torch.conv2d(x, self.v), [64, 64])\n"
            "  return torch.max_pool2d(torch.conv2d(y, self.w), [5, 5])",
            {{"v", at::randn({1, 1, 1, 1})}, {"w", at::randn({500, 1, 1, 1})}},
            "x float32 2x1x384x384"},
        Inference{"flattened_image",
                  "def forward(self, x):\n  return torch.linear(torch.flatten(x, 1), self.w)",
                  {{"w", at::randn({5, 7})}},
                  "x float32 2x7"},
        Inference{"viewed_image",
                  "def forward(self, x):\n  return torch.conv2d(x.view([-1, 1, 4, 4]), self.w)",
                  {{"w", at::randn({5, 1, 3, 3})}},
                  "x float32 2x16"},
        Inference{"positions_fix_the_length",
                  "def forward(self, x):\n  return torch.linear(x + self.p, self.w)",
                  {{"p", at::randn({1, 9, 7})}, {"w", at::randn({5, 7})}},
                  "x float32 2x9x7"},
        Inference{
            "dictionary",
            "def forward(self, d: Dict[str, Tensor]):\n  return torch.linear(d['a'], self.w) + "
            "torch.embedding(self.e, d['b']).mean(1)",
            {{"w", at::randn({4, 7})}, {"e", at::randn({9, 4})}},
            "d {a: float32 2x7, b: int64 2x64 in 0..8}"},
        Inference{"tuple_and_default",
                  "def forward(self, t: Tuple[Tensor, Tensor], scale: float = 2.0):\n  a, b = t\n"
                  "  return torch.linear(a, self.w) + torch.linear(b, self.w) * scale",
                  {{"w", at::randn({4, 7})}},
                  "t (float32 2x7, float32 2x7)"},
        Inference{"size_from_the_models_message",
                  "def forward(self, x):\n  assert x.size(2) == 77, 'expected 77 columns'\n"
                  "  return torch.conv2d(x, self.w)",
                  {{"w", at::randn({4, 1, 3, 3})}},
                  "x float32 2x1x77x77"},
        Inference{
            "batch_of_one_only",
            "def forward(self, x):\n  assert x.size(0) == 1\n  return torch.linear(x, self.w)",
            {{"w", at::randn({5, 7})}},
            "x float32 1x7"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(InferredFailure, GivesTheModelsOwnLineAndTheFlag) {
  const Model model =
      hand_made("def forward(self, x):\n  assert x.size(0) > 1000, 'only on Sundays'\n  return x",
                {{"w", at::randn({2})}});
  EXPECT_THAT(message_of<ModelError>([&] { inputs_of(model); }),
              ::testing::AllOf(HasSubstr("only on Sundays"), HasSubstr("--input x=TYPE:SHAPE")));
}

TEST(InferredFailure, GivesTheFlagOfAnArgumentThatTheMessageNames) {
  const Model model = hand_made(
      "def forward(self, x, target: Optional[Tensor] = None, other: int = 3):\n"
      "  assert target is not None, 'target is needed, targets and others are not'\n"
      "  return torch.linear(x, self.w)",
      {{"w", at::randn({5, 7})}});
  EXPECT_THAT(message_of<ModelError>([&] { inputs_of(model); }),
              ::testing::EndsWith("give --input x=TYPE:SHAPE --input target=TYPE:SHAPE"));
}

TEST(Method, AMissingOneListsTheOthers) {
  Model model = linear_model();
  model.method = "encode";
  EXPECT_THAT(message_of<ModelError>([&] { inputs_of(model); }), HasSubstr("--method forward"));
}

/// tests/models/files/traced_*.pt are written by tests/models/make_traced.py with torch.jit.trace.
Model traced(const std::string& name) {
  return load_model({std::string(HOT_SOURCE_DIR) + "/tests/models/files/" + name, "forward", {}});
}

TEST(Traced, ShapesAndTypesComeFromTheFile) {
  const Inputs inputs = inputs_of(traced("traced_tokens.pt"));
  EXPECT_EQ(inputs.source, "traced_inputs.pkl");
  EXPECT_EQ(inputs.description, "tokens int64 3x5 in 0..10; mask int64 3x5 in 1..1");
}

TEST(Traced, ABatchOfOneIsRaisedWhereTheModelAllowsIt) {
  const Inputs free = inputs_of(traced("traced_one.pt"));
  EXPECT_EQ(free.description, "input float32 2x7");
  EXPECT_THAT(free.notes, Contains(HasSubstr("batch of 2 is used")));
  const Inputs baked = inputs_of(traced("traced_baked.pt"));
  EXPECT_EQ(baked.description, "x float32 1x7");
  EXPECT_THAT(baked.notes, Contains(HasSubstr("baked in")));
}

TEST(Traced, AnotherBatchThanTheBakedOneIsRefused) {
  EXPECT_THAT(message_of<ModelError>([&] { inputs_of(traced("traced_fixed.pt"), {}, 4); }),
              HasSubstr("traced with a batch of 2"));
}

}  // namespace
}  // namespace hot::models
