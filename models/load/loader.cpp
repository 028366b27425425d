#include <caffe2/serialize/inline_container.h>
#include <caffe2/serialize/versions.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/storage_context.h>
#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "core/errors.hpp"
#include "models/file/fingerprint.hpp"
#include "models/file/memory_limit.hpp"
#include "models/file/sniff.hpp"
#include "models/jit.hpp"
#include "models/load/child.hpp"
#include "models/load/constants.hpp"
#include "models/load/graph_checks.hpp"
#include "models/load/libraries.hpp"
#include "models/load/load_errors.hpp"
#include "models/load/parameters.hpp"
#include "models/model.hpp"

namespace hot::models {
namespace {

void check_version(const std::string& path, int version) {
  const auto newest = static_cast<int>(caffe2::serialize::kMaxSupportedFileFormatVersion);
  const auto oldest = static_cast<int>(caffe2::serialize::kMinSupportedFileFormatVersion);
  if (version > newest) {
    throw ModelError(
        fmt::format("{}: its format version is {}, the newest that torch {} reads is {}; export it "
                    "with an older torch or "
                    "build with a newer one",
                    path, version, TORCH_VERSION, newest));
  }
  if (version < oldest) {
    throw ModelError(fmt::format(
        "{}: its format version is {}, the oldest that torch {} reads is {}; export it again", path,
        version, TORCH_VERSION, oldest));
  }
}

torch::jit::Module load_module(const std::string& path, const TorchScriptFile& file,
                               at::Device device) {
  if (file.packaged.empty()) return torch::jit::load(path, device);
  auto reader = std::make_shared<caffe2::serialize::PyTorchStreamReader>(path);
  return torch::jit::import_ir_module(
      std::make_shared<torch::jit::CompilationUnit>(), std::move(reader),
      std::make_shared<torch::jit::DeserializationStorageContext>(), device, file.packaged.front());
}

torch::jit::Method find_method(const std::string& path, const torch::jit::Module& module,
                               const std::string& name) {
  if (const auto method = module.find_method(name)) return *method;
  std::set<std::string> names;
  for (const torch::jit::Method& method : module.get_methods()) {
    if (!method.name().starts_with("__")) names.insert(method.name());
  }
  if (names.empty())
    throw ModelError(fmt::format(
        "{}: the model has no method {} and no other; export one that computes", path, name));
  throw ModelError(
      fmt::format("{}: the model has no method {}; choose one of its own with --method: {}", path,
                  name, fmt::join(names, ", ")));
}

/// Makes sure that there is something to train.
void enable_gradients(Model& model) {
  if (model.parameters.empty()) {
    throw ModelError(
        fmt::format("{}: the model has no parameters, so there is nothing to train or analyse; "
                    "give a model with weights",
                    model.path));
  }
  const auto trainable = [](const Parameter& parameter) {
    return parameter.tensor.requires_grad();
  };
  if (std::any_of(model.parameters.begin(), model.parameters.end(), trainable)) return;
  int enabled = 0;
  for (Parameter& parameter : model.parameters) {
    if (!parameter.tensor.is_floating_point() && !parameter.tensor.is_complex()) continue;
    parameter.tensor.requires_grad_(true);
    ++enabled;
  }
  if (enabled == 0)
    throw ModelError(fmt::format(
        "{}: none of the model's parameters is a floating-point tensor; none can be trained",
        model.path));
  model.notes.push_back(fmt::format(
      "All {} parameters were saved without requires_grad; it was switched on.", enabled));
}

/// Everything but recognising the file and its fingerprint; LibTorch's own exceptions come out.
Model prepare(const LoadOptions& options, const TorchScriptFile& file) {
  load_libraries(options.libraries);
  Model model;
  model.path = options.path;
  model.method = options.method;
  model.device = at::Device(options.device);
  model.notes = file.notes;
  if (file.packaged.size() > 1) {
    model.notes.push_back(
        fmt::format("The torch.package holds {} TorchScript modules; the first is used.",
                    file.packaged.size()));
  }
  model.module = load_module(options.path, file, model.device);
  const std::shared_ptr<torch::jit::Graph> graph =
      find_method(options.path, model.module, options.method).graph();
  inline_all(*graph);
  const auto add_notes = [&](const std::vector<std::string>& notes) {
    model.notes.insert(model.notes.end(), notes.begin(), notes.end());
  };
  add_notes(check_graph(options.path, model.module, *graph));
  add_notes(convert_to_float32(model.module));
  model.parameters = module_parameters(model.module);
  const std::vector<Parameter> constants = trainable_constants(*graph);
  if (!constants.empty()) {
    model.notes.push_back(fmt::format(
        "{} weight{} of layers are constants of the code (a frozen model), named by their place.",
        constants.size(), constants.size() == 1 ? "" : "s"));
  }
  model.parameters.insert(model.parameters.end(), constants.begin(), constants.end());
  enable_gradients(model);
  quiet_jit();
  return model;
}

/// What loading threw, as the exit code's digit and the message; "0" where it threw nothing.
/// Libraries that come along may take what memory they like.
std::string try_to_load(const LoadOptions& options, const TorchScriptFile& file) {
  std::optional<MemoryLimit> limit;
  if (options.libraries.empty()) limit.emplace(enough_memory(file.unpacked_bytes));
  try {
    try {
      static_cast<void>(prepare(options, file));
    } catch (...) {
      rethrow_load_error(options.path);
    }
  } catch (const EnvironmentError& error) {
    if (!limit || !limit->holds())
      return fmt::format("{}{}", static_cast<int>(error.code()), error.what());
    return fmt::format(
        "{}{}: loading it asks for far more memory than its {} MB can need: a size in it is "
        "damaged; copy or export the file again",
        static_cast<int>(ExitCode::model), options.path, (file.unpacked_bytes >> 20) + 1);
  } catch (const Error& error) {
    return fmt::format("{}{}", static_cast<int>(error.code()), error.what());
  }
  return "0";
}

/// Loads the file in a child process first, so that a file that crashes LibTorch ends the child
/// alone. Throws what loading threw.
void rehearse(const LoadOptions& options, const TorchScriptFile& file) {
  const auto megabytes = static_cast<long>(std::filesystem::file_size(options.path) >> 20);
  const std::chrono::seconds limit(60 + megabytes / 10);
  const ChildResult result = run_in_child(
      [&]() -> std::string {
        // The parent's worker threads don't exist in the child: waiting for one would never end.
        at::set_num_threads(1);
        LoadOptions on_cpu = options;  // a child has no GPU
        on_cpu.device = "cpu";
        return try_to_load(on_cpu, file);
      },
      limit);
  if (result.end == ChildResult::End::timed_out) {
    throw ModelError(fmt::format("{}: loading it did not end within {} s; the file may be damaged",
                                 options.path, limit.count()));
  }
  if (result.end == ChildResult::End::signalled && result.code == SIGKILL) {
    throw EnvironmentError(
        fmt::format("{}: the system ended the process that loaded it, most likely for lack of "
                    "memory ({} MB file)",
                    options.path, megabytes));
  }
  if (result.end == ChildResult::End::signalled) {
    throw ModelError(
        fmt::format("{}: loading it crashed (signal {}, {}); the file is damaged or not meant for "
                    "this LibTorch ({})",
                    options.path, result.code, ::strsignal(result.code), TORCH_VERSION));
  }
  if (result.end == ChildResult::End::exited || result.output.empty()) {
    throw ModelError(fmt::format(
        "{}: loading it ended the process (exit status {}); the file or a loaded library does that",
        options.path, result.code));
  }
  const std::string message = result.output.substr(1);
  switch (static_cast<ExitCode>(result.output[0] - '0')) {
    case ExitCode::done:
      return;
    case ExitCode::usage:
      throw UsageError(message);
    case ExitCode::environment:
      throw EnvironmentError(message);
    default:
      throw ModelError(message);
  }
}

}  // namespace

Model load_model(const LoadOptions& options) {
  const TorchScriptFile file = recognise(options.path);
  check_version(options.path, file.version);
  rehearse(options, file);
  try {
    Model model = prepare(options, file);
    model.sha256 = sha256_of_file(options.path);
    return model;
  } catch (...) {
    rethrow_load_error(options.path);
  }
}

std::int64_t Model::scalar_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters) count += parameter.tensor.numel();
  return count;
}

}  // namespace hot::models
