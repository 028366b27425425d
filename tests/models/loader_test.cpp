#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/errors.hpp"
#include "models/file/fingerprint.hpp"
#include "models/jit.hpp"
#include "tests/models/model_files.hpp"

namespace hot::models {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
namespace fs = std::filesystem;

using Names = std::vector<std::string>;

Names first_names(const Model& model) {
  Names names;
  for (const Parameter& parameter : model.parameters) names.push_back(parameter.names.front());
  return names;
}

std::string text(const Names& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

/// Runs a fresh copy and differentiates a fixed projection of its output.
void run(const Model& model, const at::Tensor& input) {
  torch::jit::Module copy = fresh_copy(model);
  const at::Tensor output = copy.get_method(model.method)({input}).toTensor();
  at::manual_seed(1);
  (output * at::randn_like(output)).sum().backward();
}

class Loader : public ModelFiles {
 protected:
  static std::string failure(const LoadOptions& options, ExitCode code = ExitCode::model) {
    try {
      static_cast<void>(load_model(options));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    return "";
  }
};

TEST_F(Loader, GivesTheParametersUnderTheirNames) {
  for (const char* name : {"scripted", "traced", "lite.ptl"}) {
    const Model model = load(name);
    EXPECT_THAT(first_names(model), ElementsAre("conv.weight", "conv.bias", "bn.weight", "bn.bias",
                                                "fc.weight", "fc.bias"));
    EXPECT_EQ(model.scalar_count(), 4 * 3 * 3 * 3 + 4 + 4 + 4 + 5 * 4 + 5);
    EXPECT_EQ(model.path, path(name));
    EXPECT_EQ(model.sha256, sha256_of_file(path(name)));
    for (const Parameter& parameter : model.parameters) {
      EXPECT_TRUE(parameter.tensor.requires_grad());
      EXPECT_FALSE(parameter.constant);
    }
  }
}

TEST_F(Loader, LeavesTheFileAndItsFolderAsTheyAre) {
  const fs::path folder = fs::temp_directory_path() / ("hot_loader_" + std::to_string(::getpid()));
  fs::create_directory(folder);
  fs::copy(path("scripted"), folder / "model.pt");
  const std::string before = sha256_of_file(folder / "model.pt");
  LoadOptions options;
  options.path = folder / "model.pt";
  run(load_model(options), at::rand({2, 3, 8, 8}));
  EXPECT_EQ(sha256_of_file(options.path), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  fs::remove_all(folder);
}

TEST_F(Loader, ListsASharedWeightOnceWithAllItsNames) {
  const Model model = load("tied");
  ASSERT_EQ(model.parameters.size(), 3);
  EXPECT_THAT(model.parameters[0].names, ElementsAre("embedding.weight", "head.weight"));
  EXPECT_THAT(model.parameters[1].names, ElementsAre("a.weight", "b.weight"));
  EXPECT_THAT(model.parameters[2].names, ElementsAre("a.bias", "b.bias"));
}

TEST_F(Loader, MakesHalfPrecisionFloat32AndLeavesIntegers) {
  for (const auto& [name, type] :
       std::map<std::string, std::string>{{"half", "float16"}, {"double", "float64"}}) {
    const Model model = load(name);
    EXPECT_THAT(model.notes, Contains(AllOf(HasSubstr(type), HasSubstr("became float32"))));
    for (const Parameter& parameter : model.parameters)
      EXPECT_EQ(parameter.tensor.scalar_type(), at::kFloat);
    for (const auto& buffer : model.module.named_buffers()) {
      const bool integer = buffer.name == "runs" || buffer.name == "bn.num_batches_tracked";
      EXPECT_EQ(buffer.value.scalar_type(), integer ? at::kLong : at::kFloat) << buffer.name;
    }
    run(model, at::rand({2, 3, 8, 8}));
    for (const Parameter& parameter : model.parameters)
      EXPECT_TRUE(parameter.tensor.grad().defined());
  }
}

TEST_F(Loader, KeepsTiedWeightsTiedWhenItConverts) {
  const Model model = load("bfloat16");
  EXPECT_THAT(model.parameters.at(0).names, ElementsAre("embedding.weight", "head.weight"));
  run(model, at::randint(10, {2, 3}));
  EXPECT_TRUE(model.parameters[0].tensor.grad().defined());
}

TEST_F(Loader, ConvertsAFrozenModelsConstants) {
  const Model model = load("frozen_half");
  EXPECT_THAT(first_names(model), ElementsAre("linear_0.weight", "linear_0.bias"));
  run(model, at::rand({2, 4}));
  EXPECT_EQ(model.parameters[0].tensor.grad().scalar_type(), at::kFloat);
}

TEST_F(Loader, MakesAFrozenModelTrainableInEveryRun) {
  const Model model = load("frozen");
  EXPECT_THAT(first_names(model),
              ElementsAre("conv2d_0.weight", "conv2d_0.bias", "linear_0.weight", "linear_0.bias"));
  EXPECT_THAT(model.notes, Contains(HasSubstr("4 weights of layers are constants")));
  at::Tensor first;
  for (int i = 0; i < 3; ++i) {
    run(model, at::ones({2, 3, 8, 8}));
    for (const Parameter& parameter : model.parameters) {
      EXPECT_TRUE(parameter.constant);
      ASSERT_TRUE(parameter.tensor.grad().defined()) << parameter.names[0];
      if (&parameter == &model.parameters[2]) {
        if (i == 0) first = parameter.tensor.grad().clone();
        EXPECT_TRUE(at::equal(parameter.tensor.grad(), first)) << "run " << i;
      }
      parameter.tensor.mutable_grad().reset();
    }
  }
}

TEST_F(Loader, FindsTheConstantsOfRecurrentAndAttentionLayers) {
  EXPECT_THAT(
      first_names(load("frozen_lstm")),
      ElementsAre("lstm_0.weight_0", "lstm_0.weight_1", "lstm_0.weight_2", "lstm_0.weight_3",
                  "lstm_0.weight_4", "lstm_0.weight_5", "lstm_0.weight_6", "lstm_0.weight_7",
                  "linear_0.weight", "linear_0.bias"));
  const Model frozen = load("frozen_transformer");
  const Names names = first_names(frozen);
  for (const char* name :
       {"conv2d_0.weight", "linear_0.weight", "linear_4.weight", "layer_norm_0.weight"}) {
    EXPECT_THAT(names, Contains(name)) << text(names);
  }
  // The class token and the position embedding are the parameters that no layer's weight stands
  // for.
  EXPECT_EQ(frozen.parameters.size() + 2, load("transformer").parameters.size()) << text(names);
}

TEST_F(Loader, MixesKeptParametersAndConstants) {
  const Model model = load("mixed");
  EXPECT_THAT(first_names(model),
              AllOf(Contains("head.weight"), Contains("head.bias"), Contains("lstm_0.weight_7")));
  run(model, at::rand({2, 6, 4}));
  for (const Parameter& parameter : model.parameters) {
    EXPECT_EQ(parameter.constant, parameter.names[0].starts_with("lstm_0")) << parameter.names[0];
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.names[0];
  }
}

TEST_F(Loader, FindsTheConstantsOfForkedTasks) {
  const Model model = load("frozen_forks");
  EXPECT_EQ(model.parameters.size(), 4) << text(first_names(model));
  run(model, at::rand({2, 4}));
  for (const Parameter& parameter : model.parameters)
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.names[0];
}

TEST_F(Loader, LeavesConstantsThatAreNoWeights) {
  const Model model = load("fixed_constants");
  EXPECT_THAT(first_names(model), ElementsAre("fc.weight", "fc.bias"));
  for_each_node(*model.module.get_method("forward").graph(), [](torch::jit::Node* node) {
    if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value)) return;
    if (node->kindOf(c10::attr::value) != torch::jit::AttributeKind::t) return;
    EXPECT_FALSE(node->t(c10::attr::value).requires_grad());
  });
}

TEST_F(Loader, TakesAFunctionsWeight) {
  EXPECT_THAT(first_names(load("traced_function")), ElementsAre("matmul_0.weight"));
}

TEST_F(Loader, SwitchesGradientsOnOnlyWhereNoneIsOn) {
  const Model off = load("no_gradients");
  EXPECT_TRUE(off.parameters[0].tensor.requires_grad());
  EXPECT_THAT(off.notes, Contains(HasSubstr("requires_grad; it was switched on")));
  const Model partly = load("partly_frozen");
  EXPECT_FALSE(partly.parameters[0].tensor.requires_grad());
  EXPECT_TRUE(partly.parameters[2].tensor.requires_grad());
  EXPECT_THAT(partly.notes, IsEmpty());
}

TEST_F(Loader, SaysWhatATraceFixes) {
  EXPECT_THAT(load("traced").notes, Contains(HasSubstr("evaluation mode in 2 places")));
  EXPECT_THAT(load("scripted").notes, IsEmpty());
}

TEST_F(Loader, NamesTheMethods) {
  LoadOptions choice = options("methods");
  EXPECT_THAT(failure(choice), AllOf(HasSubstr("no method forward"), HasSubstr("--method"),
                                     HasSubstr("decode, encode")));
  choice.method = "decode";
  const Model model = load_model(choice);
  EXPECT_EQ(model.method, "decode");
  run(model, at::rand({2, 4}));
  EXPECT_TRUE(model.parameters[0].tensor.grad().defined());
}

TEST_F(Loader, RefusesWhatCannotBeTrained) {
  const std::map<std::string, Names> expected = {
      {"no_parameters", {"no parameters"}},
      {"integer_parameter", {"none of the model's parameters is a floating-point tensor"}},
      {"quantized_static", {"already quantized", "quantized::linear", "float model"}},
      {"quantized_dynamic", {"already quantized", "quantized::linear_dynamic"}},
      {"cuda_always", {"cuda:0", "aten::to", "model.cpu()"}},
      {"boxes", {"torchvision::nms", "--load-library", "torchvision/_C"}},
      {"flatbuffer.ptl", {"flatbuffer"}},
  };
  for (const auto& [name, words] : expected) {
    const std::string message = failure(options(name));
    EXPECT_THAT(message, ::testing::StartsWith(path(name) + ": "));
    for (const std::string& word : words) EXPECT_THAT(message, HasSubstr(word)) << name;
  }
}

TEST_F(Loader, NotesACudaDeviceInABranch) {
  const Model model = load("cuda_branch");
  EXPECT_THAT(model.notes, ElementsAre(AllOf(HasSubstr("branch"), HasSubstr("cuda"))));
  run(model, at::rand({2, 4}));
}

TEST_F(Loader, LoadsLibrariesFirst) {
  LoadOptions choice = options("boxes");
  choice.libraries = {"missing.so"};
  EXPECT_THAT(failure(choice, ExitCode::usage),
              HasSubstr("--load-library missing.so: no such file"));
  choice.libraries = {path("scripted")};
  EXPECT_THAT(failure(choice, ExitCode::environment), HasSubstr("cannot be loaded"));
  const std::string torchvision = HOT_TORCHVISION_LIBRARY;
  if (torchvision.empty()) GTEST_SKIP() << "no torchvision beside torch: the operator is not tried";
  choice.libraries = {torchvision};
  EXPECT_THAT(first_names(load_model(choice)), ElementsAre("fc.weight", "fc.bias"));
}

TEST_F(Loader, SurvivesALibraryThatCrashes) {
  LoadOptions choice = options("scripted");
  choice.libraries = {HOT_CRASHING_LIBRARY};
  EXPECT_THAT(failure(choice), AllOf(HasSubstr("loading it crashed"), HasSubstr("signal 6")));
}

TEST_F(Loader, SwitchesTheOptimizerOffAfterInliningEverything) {
  for (int i = 0; i < 2; ++i) {  // the second time the optimizer is off already
    const Model model = load("scripted");
    EXPECT_FALSE(torch::jit::getProfilingMode());
    EXPECT_FALSE(torch::jit::getGraphExecutorOptimize());
    for_each_node(*model.module.get_method("forward").graph(), [](torch::jit::Node* node) {
      EXPECT_NE(node->kind(), c10::prim::CallMethod);
      EXPECT_NE(node->kind(), c10::prim::CallFunction);
    });
  }
}

TEST_F(Loader, KeepsTheModulePathsOfARun) {
  const Model model = load("scripted");
  static std::vector<std::string> paths;
  paths.clear();
  const auto observe =
      [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
    if (std::string(function.name()) == "aten::linear")
      paths.push_back(text(torch::jit::currentModuleHierarchy()));
    return nullptr;
  };
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(observe).scopes({at::RecordScope::FUNCTION}));
  fresh_copy(model).get_method("forward")({at::rand({2, 3, 8, 8})});
  at::removeCallback(handle);
  EXPECT_THAT(paths, ElementsAre(HasSubstr("fc")));
}

TEST_F(Loader, RunsAFrozenModelOnAnotherThread) {
  const Model model = load("frozen");
  std::thread([&] {
    quiet_jit();
    for (int i = 0; i < 3; ++i) run(model, at::rand({2, 3, 8, 8}));
  }).join();
  EXPECT_TRUE(model.parameters[0].tensor.grad().defined());
}

TEST_F(Loader, ReadsEveryFileOfTheZooAsItsManifestSays) {
  const std::string folder = std::string(HOT_BUILD_DIR) + "/test_files/bad/";
  std::ifstream file(folder + "manifest.json");
  if (!file) GTEST_SKIP() << "no bad files: run the CTest test make_bad_files (needs .venv)";
  for (const auto& row : nlohmann::json::parse(file)["files"]) {
    LoadOptions choice;
    choice.path = folder + row["file"].get<std::string>();
    SCOPED_TRACE(row["what"].get<std::string>());
    if (row["expect_exit"] == 0) {
      EXPECT_EQ(failure(choice), "");
      continue;
    }
    std::string message = failure(choice, static_cast<ExitCode>(row["expect_exit"].get<int>()));
    EXPECT_THAT(message, ::testing::StartsWith(choice.path + ": "));
    std::transform(message.begin(), message.end(), message.begin(), ::tolower);
    for (std::string word : row["expect_words"].get<Names>()) {
      std::transform(word.begin(), word.end(), word.begin(), ::tolower);
      EXPECT_THAT(message, HasSubstr(word));
    }
  }
}

}  // namespace
}  // namespace hot::models
