#include "models/model_error.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <regex>
#include <sstream>
#include <string_view>

#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace hot::models {
namespace {

constexpr std::size_t kLongest = 300;

struct Advice {
  std::string_view sign;  ///< part of the model's message
  std::string_view text;  ///< what to do
};

/// First match wins; the last row matches everything.
constexpr std::array kAdvice = {
    Advice{"Expected more than 1 value per channel", "give --batch 2 or more"},
    Advice{
        "Found no NVIDIA driver",
        "the code names a CUDA device: export the model on the CPU (model.cpu() before tracing)"},
    Advice{
        "Torch not compiled with CUDA",
        "the code names a CUDA device: export the model on the CPU (model.cpu() before tracing)"},
    Advice{"derivative for", "this operator can't be trained; export the model without it"},
    Advice{"derivative is not implemented",
           "this operator can't be trained; export the model without it"},
    Advice{"does not require grad", "the output doesn't depend on a trainable parameter"},
    Advice{"Trying to backward through the graph a second time",
           "the model keeps a tensor of an earlier step; detach() it in forward"},
    Advice{"modified by an inplace operation",
           "the model overwrites a tensor that its gradient needs; export it without that"},
    Advice{"a leaf Variable that requires grad",
           "the model changes a parameter in place; export it without that"},
    Advice{"", "if the shapes or types are wrong, give them with --input NAME=TYPE:SHAPE"},
};

std::string allocation_advice(const std::string& line) {
  static const std::regex bytes("([0-9]+) bytes");
  std::smatch match;
  const std::string size = std::regex_search(line, match, bytes)
                               ? fmt::format(" ({:.4g} GB at once)", std::stod(match[1]) / 1e9)
                               : "";
  return fmt::format("not enough memory{}; give a smaller --batch or smaller sizes with --input",
                     size);
}

bool is_allocation_failure(const std::string& text) {
  return text.find("can't allocate memory") != std::string::npos ||
         text.find("Cannot allocate memory") != std::string::npos ||
         text.find("out of memory") != std::string::npos;
}

}  // namespace

std::string without_places(std::string line) {
  constexpr std::size_t readable = 4096;  // std::regex recurses once a character
  if (line.size() > readable) return line;
  static const std::array parts = {
      std::regex(
          "^.*INTERNAL ASSERT FAILED at \"[^\"]*\":[0-9]+, please report a bug to PyTorch\\.? *"),
      std::regex("^/[^: ]+:[0-9]+: "),
      std::regex("^\\[enforce fail at [^\\]]*\\] [^ ]* "),
      std::regex("PytorchStreamReader "),
      std::regex("\\. This is an internal miniz error.*"),
      std::regex(" \\(of Python compilation unit at: 0x[0-9a-f]+\\)")};
  for (const std::regex& part : parts) line = std::regex_replace(line, part, "");
  return line.empty() ? "an internal check failed" : line;
}

std::string last_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::istringstream lines(torch_error != nullptr ? torch_error->what_without_backtrace()
                                                  : error.what());
  static const std::regex raised(
      "^\\s*(?:[A-Za-z_][\\w.]*\\.)?([A-Za-z_]*(?:Error|Exception)): (.*)$");
  std::string last;
  std::string named;
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos) continue;
    std::smatch match;
    if (line.size() < 4096 && std::regex_match(line, match, raised)) {
      named = match[1] == "RuntimeError" ? match[2].str() : match[1].str() + ": " + match[2].str();
    }
    last = line.substr(start);
  }
  std::string result = named.empty() ? last : named;
  if (!result.empty()) result = without_places(std::move(result));
  if (result.size() > kLongest) result = result.substr(0, kLongest) + " …";
  return result.empty() ? "no message" : result;
}

void rethrow_model_error(const std::string& doing) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw EnvironmentError(fmt::format("{}: {}", doing, allocation_advice("")));
  } catch (const std::exception& error) {
    throw_if_interrupted();  // the interpreter turns what a callback throws into its own kind
    const std::string line = last_line(error);
    const std::string whole = error.what();
    if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
        is_allocation_failure(whole)) {
      throw EnvironmentError(fmt::format("{}: {}", doing, allocation_advice(whole)));
    }
    const auto* advice = std::find_if(kAdvice.begin(), kAdvice.end(), [&](const Advice& a) {
      return whole.find(a.sign) != std::string::npos;
    });
    throw ModelError(fmt::format("the model failed in {}: {} ({})", doing, line, advice->text));
  }
}

}  // namespace hot::models
