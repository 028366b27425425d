#include "models/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/errors.hpp"
#include "models/inputs/archive_spec.hpp"
#include "models/forward.hpp"
#include "models/inputs/infer_inputs.hpp"
#include "models/model_error.hpp"
#include "models/inputs/signature.hpp"
#include "models/inputs/traced_inputs.hpp"

namespace hot::models {
namespace {

/// Specifications and where they come from.
struct Found {
  ArgumentSpecs specs;
  std::string source;
  std::vector<std::string> notes;
};

/// Places what a file says. What is wrong there is the file's fault, not the command line's.
template <typename Make>
auto from_file(const std::string& place, const Make& make) {
  try {
    return make();
  } catch (const UsageError& error) {
    throw ModelError(fmt::format("{}: {}; give --input instead", place, error.what()));
  }
}

std::optional<Found> from_archive(const Model& model, const std::vector<Argument>& arguments) {
  const auto spec = read_archive_spec(model.path);
  if (!spec) return std::nullopt;
  return from_file("the input specification inside the model file", [&] {
    return Found{place(spec->inputs, arguments), "specification in the archive", {}};
  });
}

/// Size 2 instead of a traced batch of 1, if the model really computes on two then; else as it was
/// traced.
void raise_traced_batch(const Model& model, const std::vector<Argument>& arguments,
                        std::uint64_t seed, Found* found) {
  const ArgumentSpecs raised = with_batch(found->specs, 2);
  std::string why;
  try {
    const c10::IValue output = trial_forward(model, build_arguments(raised, arguments, seed), seed);
    bool doubled = false;
    for_each_tensor(output, [&](const at::Tensor& tensor) {
      const auto sizes = tensor.sizes();
      doubled = doubled || sizes.empty() || std::find(sizes.begin(), sizes.end(), 2) != sizes.end();
    });
    if (doubled) {
      found->specs = raised;
      found->notes.emplace_back(
          "The model was traced with a batch of 1; a batch of 2 is used, which it also takes.");
      return;
    }
    why = "its outputs don't grow with the batch";
  } catch (const std::exception& error) {
    why = last_line(error);
  }
  found->notes.push_back(fmt::format(
      "The traced batch of 1 is baked into the model ({}); a batch of 1 is used.", why));
}

std::optional<Found> from_trace(const Model& model, const std::vector<Argument>& arguments) {
  auto specs = read_traced_inputs(model, arguments);
  if (!specs) return std::nullopt;
  return Found{std::move(*specs), "traced_inputs.pkl", {}};
}

/// Checks that a traced model takes another batch than the traced one.
void check_asked_batch(const Model& model, const std::vector<Argument>& arguments,
                       const Found& found, const InputOptions& options, std::int64_t traced) {
  try {
    static_cast<void>(
        trial_forward(model, build_arguments(found.specs, arguments, options.seed), options.seed));
  } catch (const std::exception& error) {
    throw ModelError(
        fmt::format("the model was traced with a batch of {} and fails with --batch {}: {}; leave "
                    "--batch out, or export it with that batch",
                    traced, options.batch, last_line(error)));
  }
}

/// The specifications from the first source that has them, the command line's on top; see
/// models/README.md.
Found find_specs(const Model& model, const InputOptions& options,
                 const std::vector<Argument>& arguments) {
  std::vector<NamedSpec> named;
  for (const std::string& text : options.inputs) named.push_back(parse_input(text));
  const ArgumentSpecs given = place(named, arguments);
  Found found{given, "command line", {}};
  const bool complete = missing(given, arguments).empty();
  if (complete && !named.empty()) {
    if (options.batch > 0) found.specs = with_batch(found.specs, options.batch);
    return found;
  }
  if (complete && arguments.empty()) return {given, "no inputs", {}};

  std::optional<Found> file = from_archive(model, arguments);
  const bool traced = !file;
  if (!file) file = from_trace(model, arguments);
  if (file) {
    const std::int64_t own_batch = batch_of(file->specs);
    const std::int64_t asked = options.batch > 0 ? options.batch : batch_of(given);
    if (asked > 0) file->specs = with_batch(file->specs, asked);
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i]) file->specs[i] = given[i];
    }
    if (!named.empty()) file->source = "command line and " + file->source;
    assume_values(model, arguments, &file->specs);
    if (missing(file->specs, arguments).empty()) {
      if (traced && asked == 0 && own_batch == 1) {
        raise_traced_batch(model, arguments, options.seed, &*file);
      } else if (traced && asked > 0 && asked != own_batch && named.empty()) {
        check_asked_batch(model, arguments, *file, options, own_batch);
      }
      return std::move(*file);
    }
    found.specs = file->specs;
  }
  InferredInputs inferred =
      infer_inputs(model, arguments, found.specs, options.batch, options.seed);
  return {std::move(inferred.specs), named.empty() ? "inferred" : "command line and inferred",
          std::move(inferred.notes)};
}

void check_options(const InputOptions& options) {
  if (options.batch < 0)
    throw UsageError(fmt::format("--batch {} is negative; give 1 or more", options.batch));
  if (options.batches < 1) {
    throw UsageError(
        fmt::format("--batches {} leaves nothing to run; give 1 or more", options.batches));
  }
}

}  // namespace

Inputs make_inputs(const Model& model, const InputOptions& options) {
  check_options(options);
  const std::vector<Argument> arguments = method_arguments(model);
  if (!options.labels.empty()) {
    throw UsageError("--labels needs --data: labels belong to real samples, not to random ones");
  }
  Found found = find_specs(model, options, arguments);
  assume_values(model, arguments, &found.specs);

  Inputs inputs;
  inputs.source = found.source;
  inputs.notes = std::move(found.notes);
  inputs.description = describe(found.specs, arguments);
  const auto make = [&] {
    for (int i = 0; i < options.batches; ++i) {
      inputs.batches.push_back(
          {build_arguments(found.specs, arguments, options.seed + static_cast<std::uint64_t>(i)),
           {}});
    }
    return inputs;
  };
  if (found.source.starts_with("command line")) return make();
  return from_file("the inputs from " + found.source, make);
}

}  // namespace hot::models
