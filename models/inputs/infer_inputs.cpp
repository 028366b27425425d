#include "models/inputs/infer_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "models/forward.hpp"
#include "models/inputs/input_guess.hpp"
#include "models/inputs/input_patterns.hpp"
#include "models/model_error.hpp"

namespace hot::models {
namespace {

constexpr std::size_t kMaxCombinations = 24;
constexpr std::size_t kMaxSizes = 32;
constexpr std::int64_t kLargestSize = 4096;  ///< that a message of the model may suggest
constexpr std::chrono::seconds kLongest{90};

const std::vector<std::int64_t> kVolumeSizes = {16, 32, 8, 64, 112, 4};
const std::vector<std::int64_t> kImageSizes = {224, 64, 32, 96, 128, 256, 299, 28, 384, 16, 512, 8};
const std::vector<std::int64_t> kSequenceSizes = {64,  32,  128, 16, 256, 224, 512,  96,
                                                  299, 384, 28,  8,  4,   2,   1024, 16000};

/// One choice of pattern for every argument that is inferred.
using Combination = std::vector<Pattern>;

std::vector<Pattern> candidates(const InputPatterns& graph, std::size_t i,
                                const Argument& argument) {
  std::vector<Pattern> patterns = graph.of(i);
  if (!patterns.empty()) return patterns;
  if (argument.is_tensor()) return guess_tensor(argument.name);
  if (const auto scalar = guess_scalar(argument.name, argument.type)) return {*scalar};
  const auto list = argument.type->cast<c10::ListType>();
  if (!list) return {};
  Pattern pattern;
  pattern.kind = Pattern::Kind::list;
  if (list->getElementType()->kind() == c10::TypeKind::TensorType) {
    pattern.items.assign(2, tensor_spec("float32", {3, kFreeSize, kFreeSize}));
  } else if (const auto scalar = guess_scalar(argument.name, list->getElementType())) {
    pattern.items.assign(1, *scalar);
  } else {
    return {};
  }
  return {pattern};
}

/// All combinations of one candidate each, the first candidates first.
std::vector<Combination> combine(const std::vector<std::vector<Pattern>>& all) {
  std::vector<Combination> combinations = {{}};
  for (const auto& patterns : all) {
    std::vector<Combination> longer;
    for (const Pattern& pattern : patterns) {
      for (const Combination& combination : combinations) {
        longer.push_back(combination);
        longer.back().push_back(pattern);
      }
    }
    combinations = std::move(longer);
    if (combinations.size() > kMaxCombinations) combinations.resize(kMaxCombinations);
  }
  return combinations;
}

/// The largest number of open sizes in one tensor: 2 for images, 3 for volumes and videos.
std::ptrdiff_t open_sizes(const Pattern& pattern) {
  std::ptrdiff_t most = std::count(pattern.shape.begin(), pattern.shape.end(), kFreeSize);
  for (const Pattern& item : pattern.items) most = std::max(most, open_sizes(item));
  return most;
}

const std::vector<std::int64_t>& standard_sizes(const Combination& combination) {
  std::ptrdiff_t most = 0;
  for (const Pattern& pattern : combination) most = std::max(most, open_sizes(pattern));
  return most >= 3 ? kVolumeSizes : most == 2 ? kImageSizes : kSequenceSizes;
}

/// True for a message about a map of features somewhere inside the model: its numbers are none of
/// the input's.
bool is_about_features(const std::string& message) {
  constexpr std::array signs = {"too small", "Kernel size can't be greater",
                                "more than 1 value per channel", "more than 1 spatial element"};
  return std::any_of(signs.begin(), signs.end(),
                     [&](const char* sign) { return message.find(sign) != std::string::npos; });
}

/// Sizes worth a trial; the model's own messages may add to them.
class Sizes {
 public:
  Sizes(const Combination& combination, const std::vector<std::int64_t>& suggested) {
    if (std::none_of(combination.begin(), combination.end(), has_free_size)) {
      sizes_ = {1};
      return;
    }
    open_ = true;
    const std::vector<std::int64_t>& standard = standard_sizes(combination);
    add(standard[0]);
    for (const std::int64_t size : suggested) add(size);
    for (const std::int64_t size : standard) add(size);
  }

  [[nodiscard]] std::size_t count() const { return sizes_.size(); }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return sizes_[i]; }

  /// Puts the numbers in a message such as "Expected 299 but got 224" at `next`.
  void learn(const std::string& message, std::size_t next) {
    if (!open_ || is_about_features(message)) return;
    for (std::size_t i = 0; i < message.size();) {
      if (std::isdigit(static_cast<unsigned char>(message[i])) == 0) {
        ++i;
        continue;
      }
      std::int64_t number = 0;
      for (; i < message.size() && std::isdigit(static_cast<unsigned char>(message[i])) != 0; ++i) {
        number = std::min<std::int64_t>(number * 10 + (message[i] - '0'), kLargestSize + 1);
      }
      if (number > 1 && number <= kLargestSize) insert(number, next);
    }
  }

 private:
  void add(std::int64_t size) { insert(size, sizes_.size()); }
  void insert(std::int64_t size, std::size_t at) {
    if (sizes_.size() < kMaxSizes &&
        std::find(sizes_.begin(), sizes_.end(), size) == sizes_.end()) {
      sizes_.insert(sizes_.begin() + static_cast<std::ptrdiff_t>(at), size);
    }
  }
  std::vector<std::int64_t> sizes_;
  bool open_ = false;
};

class Trials {
 public:
  Trials(const Model& model, const std::vector<Argument>& arguments, std::uint64_t seed)
      : model_(model), arguments_(arguments), seed_(seed) {}

  /// True if a forward pass runs; else the reason is in last_error().
  bool run(const ArgumentSpecs& specs) {
    throw_if_interrupted();
    ++count_;
    try {
      static_cast<void>(trial_forward(model_, build_arguments(specs, arguments_, seed_), seed_));
      return true;
    } catch (const Error& error) {
      last_error_ = error.what();
    } catch (const std::exception& error) {
      last_error_ = last_line(error);
    }
    return false;
  }

  [[nodiscard]] bool out_of_time() const {
    return std::chrono::steady_clock::now() - start_ > kLongest;
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] const std::string& last_error() const { return last_error_; }

 private:
  const Model& model_;
  const std::vector<Argument>& arguments_;
  std::uint64_t seed_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int count_ = 0;
  std::string last_error_;
};

/// True if `message` has `name` as a word.
bool mentions(const std::string& message, const std::string& name) {
  const auto is_letter = [&](std::size_t i) {
    return i < message.size() &&
           (std::isalnum(static_cast<unsigned char>(message[i])) != 0 || message[i] == '_');
  };
  for (std::size_t at = message.find(name); at != std::string::npos;
       at = message.find(name, at + 1)) {
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + name.size())) return true;
  }
  return false;
}

/// The flags of the arguments in `open`, and of those that the model's message asks for.
std::string flags(const std::vector<std::size_t>& open, const std::vector<Argument>& arguments,
                  const std::string& message) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_open = std::find(open.begin(), open.end(), i) != open.end();
    if (!is_open && !(arguments[i].default_value && mentions(message, arguments[i].name))) continue;
    texts.push_back(fmt::format("--input {}={}", arguments[i].name,
                                arguments[i].is_tensor() ? "TYPE:SHAPE" : "VALUE"));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace

InferredInputs infer_inputs(const Model& model, const std::vector<Argument>& arguments,
                            const ArgumentSpecs& known, int batch, std::uint64_t seed) {
  const std::vector<std::size_t> open = missing(known, arguments);
  const InputPatterns graph(model);
  std::vector<std::vector<Pattern>> all;
  for (const std::size_t i : open) {
    all.push_back(candidates(graph, i, arguments[i]));
    if (all.back().empty()) {
      throw ModelError(
          fmt::format("what argument '{}' ({}) should be can't be told from the model; give "
                      "--input {}=VALUE (the grammar: models/README.md)",
                      arguments[i].name, arguments[i].type->repr_str(), arguments[i].name));
    }
  }
  const std::int64_t own = batch > 0 ? batch : batch_of(known);
  const std::vector<std::int64_t> batches =
      own > 0 ? std::vector<std::int64_t>{own} : std::vector<std::int64_t>{2, 8, 1};

  Trials trials(model, arguments, seed);
  for (const std::int64_t n : batches) {
    for (const Combination& combination : combine(all)) {
      Sizes sizes(combination, graph.suggested_sizes());
      for (std::size_t s = 0; s < sizes.count() && !trials.out_of_time(); ++s) {
        ArgumentSpecs specs = known;
        for (std::size_t j = 0; j < open.size(); ++j)
          specs[open[j]] = fill(combination[j], n, sizes[s]);
        if (trials.run(specs)) {
          InferredInputs result{std::move(specs), {}};
          result.notes.push_back(
              fmt::format("Inputs were inferred from the model's code and a trial run ({}); "
                          "--input overrides them.",
                          describe(result.specs, arguments)));
          if (own == 0 && n == 1)
            result.notes.emplace_back("The model runs with a batch of 1 only.");
          return result;
        }
        sizes.learn(trials.last_error(), s + 1);
      }
    }
  }
  throw ModelError(fmt::format(
      "no inputs were found that the model takes ({} shapes tried; the last gave: {}); give {}",
      trials.count(), trials.last_error(), flags(open, arguments, trials.last_error())));
}

}  // namespace hot::models
