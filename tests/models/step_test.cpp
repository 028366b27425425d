#include "models/step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "models/jit.hpp"
#include "models/model_error.hpp"
#include "models/warnings.hpp"
#include "tests/models/hand_made.hpp"

namespace hot::models {
namespace {

using ::testing::AllOf;
using testing::hand_made;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::StartsWith;

Batch batch_of(std::vector<c10::IValue> inputs, at::Tensor labels = {}) {
  return {std::move(inputs), std::move(labels)};
}

Model classifier() {
  at::manual_seed(1);
  return hand_made(
      "def forward(self, x):\n  return torch.linear(torch.dropout(x, 0.5, True), self.w)",
      {{"w", at::randn({5, 7})}, {"unused", at::randn({3})}});
}

/// Loss of `output` itself, whatever the model.
double loss_of(const Loss& loss, const at::Tensor& output, const Batch& batch) {
  return loss(output, batch).item<double>();
}

TEST(Loss, LabelsGiveCrossEntropy) {
  const Model model =
      hand_made("def forward(self, x):\n  return x + self.w", {{"w", at::zeros({2, 3})}});
  const at::Tensor x = at::tensor({0.0F, 0.0F, 0.0F, 100.0F, 0.0F, 0.0F}).reshape({2, 3});
  const Batch batch = batch_of({x}, at::tensor({2L, 0L}));
  const Loss loss = Loss::choose("auto", model, batch, 0);
  EXPECT_THAT(loss.description(), AllOf(StartsWith("cross-entropy"), HasSubstr("labels")));
  // ln 3 for the even row, 0 for the sure one.
  EXPECT_NEAR(loss_of(loss, x.clone().requires_grad_(), batch), std::log(3.0) / 2, 1e-6);
}

TEST(Loss, ClassesMayStandInDimensionOneOrLast) {
  const Model model =
      hand_made("def forward(self, x):\n  return x + self.w", {{"w", at::zeros({1})}});
  const at::Tensor x = at::randn({2, 4, 6, 5});
  EXPECT_THAT(
      Loss::choose("auto", model, batch_of({x}, at::ones({2, 6, 5}, at::kLong)), 0).description(),
      StartsWith("cross-entropy"));
  EXPECT_THAT(
      Loss::choose("auto", model, batch_of({x}, at::ones({2, 4, 6}, at::kLong)), 0).description(),
      StartsWith("cross-entropy"));
  EXPECT_THAT(message_of<ModelError>([&] {
                static_cast<void>(
                    Loss::choose("auto", model, batch_of({x}, at::ones({2, 9}, at::kLong)), 0));
              }),
              HasSubstr("fit none of the outputs"));
}

TEST(Loss, LabelsOutsideTheClassesAreRefused) {
  const Model model = classifier();
  const Batch batch = batch_of({at::randn({2, 7})}, at::tensor({0L, 5L}));
  const Loss loss = Loss::choose("auto", model, batch, 0);
  EXPECT_THAT(message_of<ModelError>([&] { static_cast<void>(run_step(model, batch, loss, 0)); }),
              HasSubstr("5 classes (0 to 4)"));
}

TEST(Loss, FloatingLabelsGiveSquaredError) {
  const Model model =
      hand_made("def forward(self, x):\n  return x * self.w", {{"w", at::ones({1})}});
  const Batch batch = batch_of({at::tensor({1.0F, 2.0F})}, at::tensor({1.0F, 4.0F}));
  const Loss loss = Loss::choose("auto", model, batch, 0);
  EXPECT_DOUBLE_EQ(loss_of(loss, at::tensor({1.0F, 2.0F}).requires_grad_(), batch), 2.0);
  EXPECT_THAT(message_of<UsageError>([&] {
                static_cast<void>(Loss::choose("mse", model, batch_of({at::ones({2})}), 0));
              }),
              HasSubstr("--labels"));
  EXPECT_THAT(
      message_of<UsageError>([&] { static_cast<void>(Loss::choose("l1", model, batch, 0)); }),
      HasSubstr("cross-entropy"));
}

/// True Fisher: labels follow the model's own distribution, and stay the same in every step on a
/// minibatch.
TEST(Loss, SampledLabelsFollowThePredictionAndStay) {
  const Model model =
      hand_made("def forward(self, x):\n  return x + self.w", {{"w", at::zeros({1})}});
  const at::Tensor logits = at::tensor({0.9F, 0.1F}).log().expand({20000, 2}).contiguous();
  const Batch batch = batch_of({logits});
  const Loss loss = Loss::choose("auto", model, batch, 3);
  EXPECT_THAT(loss.description(), HasSubstr("true Fisher"));
  // The expected loss under the model's own labels is the entropy of (0.9, 0.1).
  const double entropy = -0.9 * std::log(0.9) - 0.1 * std::log(0.1);
  const double first = loss_of(loss, logits.clone().requires_grad_(), batch);
  EXPECT_NEAR(first, entropy, 0.02);
  EXPECT_EQ(loss_of(loss, logits.clone().requires_grad_(), batch), first);
}

TEST(Loss, EmbeddingsAndFeatureMapsAreProjected) {
  const Model unit = hand_made(
      "def forward(self, x):\n  y = torch.linear(x, self.w)\n  return y / y.norm(2, -1, True)",
      {{"w", at::randn({5, 7})}});
  EXPECT_THAT(Loss::choose("auto", unit, batch_of({at::randn({2, 7})}), 0).description(),
              HasSubstr("random projection"));
  const Model map = hand_made("def forward(self, x):\n  return x * self.w", {{"w", at::ones({1})}});
  EXPECT_THAT(Loss::choose("auto", map, batch_of({at::randn({2, 4, 6})}), 0).description(),
              HasSubstr("random projection"));
}

TEST(Loss, LanguageModelsAreTakenForLogits) {
  const Model model =
      hand_made("def forward(self, t):\n  return torch.linear(torch.embedding(self.e, t), self.e)",
                {{"e", at::randn({40, 4})}});
  EXPECT_THAT(Loss::choose("auto", model, batch_of({at::ones({2, 6}, at::kLong)}), 0).description(),
              HasSubstr("2x6x40 taken for logits"));
}

/// With unit outputs the loss is Σ R/√n, of variance 1, for every seed another one; never the mean,
/// which would be 1.
TEST(Loss, ProjectionIsRandomScaledAndSeeded) {
  const Model model =
      hand_made("def forward(self, x):\n  return x * self.w", {{"w", at::ones({1})}});
  const Batch batch = batch_of({at::ones({8, 4, 4})});
  double squares = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const Loss loss = Loss::choose("output", model, batch, 100 * seed);
    const double value = loss_of(loss, at::ones({8, 4, 4}).requires_grad_(), batch);
    squares += value * value;
    EXPECT_EQ(loss_of(loss, at::ones({8, 4, 4}).requires_grad_(), batch), value);
  }
  EXPECT_NEAR(squares / 200, 1.0, 0.35);
}

TEST(Loss, EveryOutputWithAGradientIsProjected) {
  const Model model = hand_made(
      "def forward(self, x):\n  return {'a': [x * self.w, x.detach()], 'b': [x.mean(0) * self.v, "
      "x]}",
      {{"w", at::ones({1})}, {"v", at::ones({1})}});
  const Batch batch = batch_of({at::randn({2, 3, 4})});
  const StepResult step = run_step(model, batch, Loss::choose("auto", model, batch, 0), 0);
  for (const at::Tensor& gradient : step.gradients)
    EXPECT_TRUE(gradient.defined() && gradient.ne(0).any().item<bool>());
}

TEST(Loss, AModelThatReturnsItsLossKeepsIt) {
  const Model model =
      hand_made("def forward(self, x):\n  return (x * self.w).sum()", {{"w", at::ones({1})}});
  const Batch batch = batch_of({at::tensor({2.0F, 3.0F})});
  const StepResult step = run_step(model, batch, Loss::choose("auto", model, batch, 0), 0);
  EXPECT_DOUBLE_EQ(step.loss, 5.0);
  EXPECT_TRUE(step.gradients[0].equal(at::tensor({5.0F})));
}

TEST(Loss, OutputsWithoutGradientAreRefused) {
  const auto refused = [](const std::string& code, const testing::Tensors& parameters) {
    return message_of<ModelError>([&] {
      static_cast<void>(
          Loss::choose("auto", hand_made(code, parameters), batch_of({at::randn({2, 3})}), 0));
    });
  };
  const testing::Tensors weight = {{"w", at::ones({1})}};
  EXPECT_THAT(refused("def forward(self, x):\n  return (x * self.w).detach()", weight),
              AllOf(StartsWith("no output has a gradient"), HasSubstr("Float 2x3")));
  EXPECT_THAT(refused("def forward(self, x):\n  return (x * self.w).argmax(1)", weight),
              HasSubstr("Long 2"));
  EXPECT_THAT(refused("def forward(self, x):\n  return x", {}),
              HasSubstr("no trainable parameter"));
}

TEST(Step, RepeatsBitForBitAndLeavesNothing) {
  const Model model = classifier();
  const Batch batch = batch_of({at::randn({4, 7})});
  const Loss loss = Loss::choose("auto", model, batch, 0);
  const StepResult a = run_step(model, batch, loss, 5);
  const StepResult b = run_step(model, batch, loss, 5);
  const StepResult other = run_step(model, batch, loss, 6);
  ASSERT_EQ(a.gradients.size(), model.parameters.size());
  EXPECT_EQ(a.loss, b.loss);
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    EXPECT_FALSE(model.parameters[i].tensor.grad().defined());
    if (model.parameters[i].names[0] == "unused") {
      EXPECT_FALSE(a.gradients[i].defined());
      continue;
    }
    EXPECT_TRUE(a.gradients[i].equal(b.gradients[i]));
    EXPECT_FALSE(a.gradients[i].equal(other.gradients[i])) << "another seed, another dropout mask";
  }
}

TEST(Step, GradientsAreAutogradsOwn) {
  const Model model = hand_made("def forward(self, x):\n  return torch.linear(x, self.w)",
                                {{"w", at::randn({5, 7})}});
  const at::Tensor x = at::randn({4, 7});
  const Batch batch = batch_of({x}, at::tensor({0L, 1L, 2L, 3L}));
  const StepResult step = run_step(model, batch, Loss::choose("auto", model, batch, 0), 0);
  const at::Tensor w = model.parameters[0].tensor.detach().clone().requires_grad_();
  at::cross_entropy_loss(at::linear(x, w), batch.labels).backward();
  EXPECT_LT((step.gradients[0] - w.grad()).abs().max().item<float>(), 1e-6);
}

TEST(Step, InputsAndModelStayAsTheyWere) {
  const Model model =
      hand_made("def forward(self, x):\n  x.mul_(2)\n  return x * self.w", {{"w", at::ones({1})}});
  const at::Tensor x = at::ones({2, 3, 4});
  const Batch batch = batch_of({x});
  static_cast<void>(run_step(model, batch, Loss::choose("auto", model, batch, 0), 0));
  EXPECT_TRUE(x.equal(at::ones({2, 3, 4})));
}

TEST(Step, BetweenRunsOnceAndMayEndTheStep) {
  const Model model = classifier();
  const Batch batch = batch_of({at::randn({4, 7})});
  const Loss loss = Loss::choose("auto", model, batch, 0);
  int calls = 0;
  static_cast<void>(run_step(model, batch, loss, 0, [&] { ++calls; }));
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(
      static_cast<void>(run_step(model, batch, loss, 0, [] { throw UsageError("enough"); })),
      UsageError);
}

TEST(Step, ALineOfTorchComesWithoutItsPlaces) {
  const auto cleaned = [](const std::string& line) {
    return last_line(std::runtime_error("text\n" + line));
  };
  EXPECT_EQ(cleaned("a.b() INTERNAL ASSERT FAILED at \"/x/y.h\":3, please report a bug to PyTorch. "
                    "Expected Int"),
            "Expected Int");
  EXPECT_EQ(cleaned("[enforce fail at inline.cc:2] . Couldn't parse it"), "Couldn't parse it");
  EXPECT_EQ(cleaned("/x/Register_0.cpp:3065: SymIntArrayRef expected to contain"),
            "SymIntArrayRef expected to contain");
  EXPECT_EQ(cleaned("PytorchStreamReader failed locating file data/x: file not found. This is an "
                    "internal miniz error. If you are seeing this"),
            "failed locating file data/x: file not found");
}

TEST(Step, TheModelsOwnLastLineComesFirst) {
  const Model model = hand_made(
      "def forward(self, x):\n  assert x.size(0) >= 4, 'need at least 4 rows'\n  return x * self.w",
      {{"w", at::ones({1})}});
  const std::string message = message_of<ModelError>([&] {
    static_cast<void>(Loss::choose("auto", model, batch_of({at::ones({2, 3})}), 0));
  });
  EXPECT_THAT(message, AllOf(HasSubstr("need at least 4 rows"), HasSubstr("--input")));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  const std::string shapes = message_of<ModelError>([] {
    static_cast<void>(Loss::choose("auto", classifier(), batch_of({at::ones({2, 3})}), 0));
  });
  EXPECT_THAT(shapes, AllOf(HasSubstr("2x3"), HasSubstr("--input")));
}

TEST(Step, RunningOutOfMemoryIsTheEnvironments) {
  const Model model =
      hand_made("def forward(self, x):\n  return torch.zeros([1000000, 1000000, 1000]) * self.w",
                {{"w", at::ones({1})}});
  EXPECT_THAT(message_of<EnvironmentError>([&] {
                static_cast<void>(Loss::choose("auto", model, batch_of({at::ones({2, 3})}), 0));
              }),
              AllOf(HasSubstr("4e+06 GB"), HasSubstr("--batch")));
}

/// Trials don't use up what torch says once in a process; each text stands once, its first line.
TEST(Step, WarningsGoToWhoeverKeepsThem) {
  const Model model = hand_made(
      "def forward(self, x):\n"
      "  for i in range(3):\n    torch.warn(\"odd\\nvery\")\n"
      "  return torch.bucketize(x.t(), torch.sort(self.w.detach())[0]) + self.w.sum()",
      {{"w", at::arange(3).to(at::kFloat)}});
  const Batch batch = batch_of({at::randn({4, 3})});
  const KeptWarnings kept;
  const Loss loss = Loss::choose("output", model, batch, 0);
  EXPECT_TRUE(kept.texts().empty());
  for (int i = 0; i < 2; ++i) static_cast<void>(run_step(model, batch, loss, 0));
  ASSERT_EQ(kept.texts().size(), 2U);
  EXPECT_EQ(kept.notes()[0], "Torch warns: odd");
  EXPECT_THAT(kept.notes()[1], HasSubstr("non-contiguous"));
}

/// An operator without an autograd kernel blocks the gradient with a mere warning; the step must
/// not pass for right.
TEST(Step, OperatorsWithoutAutogradAreNamed) {
  static const torch::Library fragment = [] {
    torch::Library lib(torch::Library::DEF, "hot_test", std::nullopt, __FILE__, __LINE__);
    lib.def("blind(Tensor x) -> Tensor");
    return lib;
  }();
  static const torch::Library implementation = [] {
    torch::Library lib(torch::Library::IMPL, "hot_test", c10::DispatchKey::CPU, __FILE__, __LINE__);
    lib.impl("blind", [](const at::Tensor& x) { return x.clone(); });
    return lib;
  }();
  const Model model =
      hand_made("def forward(self, x):\n  return x * self.w", {{"w", at::ones({1})}});
  const auto graph = model.module.get_method("forward").graph();
  torch::jit::Node* node =
      graph->create(c10::Symbol::fromQualString("hot_test::blind"), {graph->outputs()[0]}, 1);
  graph->appendNode(node);
  graph->eraseOutput(0);
  graph->registerOutput(node->output());
  const Batch batch = batch_of({at::randn({2, 3, 4})});
  const Loss loss = Loss::choose("auto", model, batch, 0);
  EXPECT_THAT(message_of<ModelError>([&] { static_cast<void>(run_step(model, batch, loss, 0)); }),
              AllOf(HasSubstr("hot_test::blind"), HasSubstr("autograd")));
  EXPECT_FALSE(model.parameters[0].tensor.grad().defined());
}

TEST(Step, NanGradientsComeBackAsTheyAre) {
  const Model model =
      hand_made("def forward(self, x):\n  return torch.sqrt(x * self.w)", {{"w", at::ones({1})}});
  const Batch batch = batch_of({at::full({2, 3, 4}, -1.0)});
  const StepResult step = run_step(model, batch, Loss::choose("output", model, batch, 0), 0);
  EXPECT_TRUE(step.gradients[0].isnan().all().item<bool>());
}

}  // namespace
}  // namespace hot::models
