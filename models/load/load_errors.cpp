#include "models/load/load_errors.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <regex>
#include <string_view>

#include "core/errors.hpp"
#include "models/file/printable.hpp"
#include "models/model_error.hpp"

namespace hot::models {
namespace {

/// Where the operators of widely used packages are.
struct OperatorLibrary {
  std::string_view space;
  std::string_view file;
};

constexpr std::array kLibraries = {
    OperatorLibrary{"torchvision",
                    "torchvision/_C_stable.so, or torchvision/_C.so in older releases"},
    OperatorLibrary{"torchaudio", "torchaudio/lib/libtorchaudio.so"},
    OperatorLibrary{"torchtext", "torchtext/lib/libtorchtext.so"},
    OperatorLibrary{"fbgemm", "fbgemm_gpu/fbgemm_gpu_py.so"},
};

std::string whole_text(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
}

/// What LibTorch has to say stands first; lines of the model's code follow.
std::string first_line(const std::string& text) {
  const std::size_t start = std::min(text.find_first_not_of(" \n:"), text.size());
  std::string line = text.substr(start, text.find('\n', start) - start);
  while (line.ends_with(':') || line.ends_with(' ') || line.ends_with('.')) line.pop_back();
  return line.empty() ? "it says nothing more" : printable(without_places(std::move(line)));
}

std::string missing_operator(const std::string& space, const std::string& name) {
  if (space == "aten" || space == "prim") {
    return fmt::format(
        "it uses the operator {}::{}, which torch {} does not have; export it with that version or "
        "an older one",
        space, name, TORCH_VERSION);
  }
  std::string where;
  for (const OperatorLibrary& library : kLibraries) {
    if (library.space == space) where = fmt::format(" ({} in the Python package)", library.file);
  }
  return fmt::format(
      "it uses the operator {0}::{1} of the library {0}, which is not loaded; give the shared "
      "object that registers it "
      "with --load-library PATH{2}",
      space, name, where);
}

std::string unknown_type(const std::string& name) {
  const std::string classes = "__torch__.torch.classes.";
  if (name.starts_with(classes)) {
    return fmt::format(
        "it uses the custom class {}, which is not loaded; give the shared object that registers "
        "it with --load-library PATH",
        name.substr(classes.size()));
  }
  return fmt::format(
      "its pickle names {}, a type that TorchScript does not know (nothing was run); "
      "export the model again",
      name);
}

/// What a message of LibTorch means to the file's owner; nothing if it is an unknown one.
std::optional<std::string> translate(const std::string& text) {
  static const std::regex unknown_operator("Unknown builtin op: (\\w+)::([\\w.]+?)\\.?(\\s|$)");
  static const std::regex type_name("Unknown type name '([^']+)'");
  std::smatch match;
  if (std::regex_search(text, match, unknown_operator))
    return missing_operator(printable(match[1].str()), printable(match[2].str()));
  if (std::regex_search(text, match, type_name)) return unknown_type(printable(match[1].str()));
  const auto has = [&](std::string_view sign) { return text.find(sign) != std::string::npos; };
  if (has("required keyword attribute 'value' is undefined")) {
    return "it was saved after torch.jit.optimize_for_inference, which loses the weights; export "
           "it again without that";
  }
  if (has("Found no NVIDIA driver") || has("Torch not compiled with CUDA") || has("CUDA error")) {
    return "it needs a CUDA device to load; export it on the CPU: model.cpu() before tracing or "
           "scripting";
  }
  if (has("PytorchStreamReader failed") || has("Unknown opcode") || has("unpickl")) {
    return "a record in it is damaged; copy or export the file again";
  }
  return std::nullopt;
}

}  // namespace

void rethrow_load_error(const std::string& path) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw EnvironmentError(
        fmt::format("{}: not enough memory to load it; free memory or use a smaller model", path));
  } catch (const std::exception& error) {
    const std::string text = whole_text(error);
    if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
        text.find("allocate memory") != std::string::npos) {
      throw EnvironmentError(fmt::format(
          "{}: not enough memory to load it; free memory or use a smaller model", path));
    }
    if (const auto known = translate(text)) throw ModelError(fmt::format("{}: {}", path, *known));
    throw ModelError(
        fmt::format("{}: LibTorch {} cannot load it ({}); copy the file again, or export it with a "
                    "torch of that version or older",
                    path, TORCH_VERSION, first_line(text)));
  }
}

}  // namespace hot::models
