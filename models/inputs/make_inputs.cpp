#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/errors.hpp"
#include "models/data/data_arguments.hpp"
#include "models/forward.hpp"
#include "models/inputs.hpp"
#include "models/inputs/archive_spec.hpp"
#include "models/inputs/infer_inputs.hpp"
#include "models/inputs/signature.hpp"
#include "models/inputs/traced_inputs.hpp"
#include "models/model_error.hpp"

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

using Shapes = std::vector<std::vector<std::int64_t>>;

Shapes output_shapes(const Model& model, const std::vector<Argument>& arguments,
                     const ArgumentSpecs& specs, std::uint64_t seed) {
  Shapes shapes;
  const c10::IValue output = trial_forward(model, build_arguments(specs, arguments, seed), seed);
  for_each_tensor(output,
                  [&](const at::Tensor& tensor) { shapes.push_back(tensor.sizes().vec()); });
  return shapes;
}

/// True if some size of the outputs is 1 for one sample and 2 for two, or if an output has no sizes
/// at all.
bool grows_with_batch(const Shapes& one, const Shapes& two) {
  for (std::size_t i = 0; i < two.size() && i < one.size(); ++i) {
    if (two[i].empty()) return true;
    for (std::size_t d = 0; d < two[i].size() && d < one[i].size(); ++d) {
      if (one[i][d] == 1 && two[i][d] == 2) return true;
    }
  }
  return false;
}

/// Size 2 instead of a traced batch of 1, if the model really computes on two then; else as it was
/// traced.
void raise_traced_batch(const Model& model, const std::vector<Argument>& arguments,
                        std::uint64_t seed, Found* found) {
  const ArgumentSpecs raised = with_batch(found->specs, 2);
  std::string why = "its outputs don't grow with the batch";
  bool grows = false;
  try {
    const Shapes two = output_shapes(model, arguments, raised, seed);
    try {
      grows = grows_with_batch(output_shapes(model, arguments, found->specs, seed), two);
    } catch (const std::exception&) {
      grows = true;  // one sample alone can't be trained on (batch normalization, say), two can
    }
  } catch (const std::exception& error) {
    why = last_line(error);
  }
  if (grows) {
    found->specs = raised;
    found->notes.emplace_back(
        "The model was traced with a batch of 1; a batch of 2 is used, which it also takes.");
  } else {
    found->notes.push_back(fmt::format(
        "The traced batch of 1 is baked into the model ({}); a batch of 1 is used.", why));
  }
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

/// What --input gives, and, beneath it, one minibatch of the data.
ArgumentSpecs given_specs(const InputOptions& options, const std::vector<Argument>& arguments,
                          const DataArguments* data) {
  std::vector<NamedSpec> named;
  for (const std::string& text : options.inputs) named.push_back(parse_input(text));
  ArgumentSpecs given = place(named, arguments);
  if (data == nullptr) {
    return options.batch > 0 ? with_batch(std::move(given), options.batch) : given;
  }
  const ArgumentSpecs from_data = data->specs();
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] && from_data[i]) {
      throw UsageError(fmt::format("argument '{}' is given by --input and by --data; leave one out",
                                   arguments[i].name));
    }
    if (from_data[i]) given[i] = from_data[i];
  }
  return given;
}

/// `given` completed by the first source that has the rest; see models/README.md.
Found complete(const Model& model, const std::vector<Argument>& arguments,
               const ArgumentSpecs& given, const InputOptions& options) {
  const bool some =
      std::any_of(given.begin(), given.end(), [](const auto& s) { return s.has_value(); });
  if (missing(given, arguments).empty() && (some || arguments.empty())) return {given, "", {}};

  std::optional<Found> file = from_archive(model, arguments);
  const bool traced = !file;
  if (!file) file = from_trace(model, arguments);
  ArgumentSpecs known = given;
  if (file) {
    const std::int64_t own_batch = batch_of(file->specs);
    const std::int64_t asked = options.batch > 0 ? options.batch : batch_of(given);
    if (asked > 0) file->specs = with_batch(file->specs, asked);
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i]) file->specs[i] = given[i];
    }
    assume_values(model, arguments, &file->specs);
    if (missing(file->specs, arguments).empty()) {
      if (traced && asked == 0 && own_batch == 1) {
        raise_traced_batch(model, arguments, options.seed, &*file);
      } else if (traced && !some && asked > 0 && asked != own_batch) {
        check_asked_batch(model, arguments, *file, options, own_batch);
      }
      return std::move(*file);
    }
    known = file->specs;
  }
  InferredInputs inferred = infer_inputs(model, arguments, known, options.batch, options.seed);
  return {std::move(inferred.specs), "inferred", std::move(inferred.notes)};
}

/// "command line and inferred", "data file" …
std::string source_text(const InputOptions& options, const std::string& rest) {
  std::vector<std::string> parts;
  if (!options.data.empty()) parts.emplace_back("data file");
  if (!options.inputs.empty()) parts.emplace_back("command line");
  if (!rest.empty()) parts.push_back(rest);
  return parts.empty() ? "no inputs" : fmt::format("{}", fmt::join(parts, " and "));
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
  std::optional<DataArguments> data;
  if (!options.data.empty()) {
    data.emplace(model, arguments, options);
  } else if (!options.labels.empty()) {
    throw UsageError("--labels needs --data: labels belong to real samples, not to random ones");
  }
  const ArgumentSpecs given = given_specs(options, arguments, data ? &*data : nullptr);
  Found found = complete(model, arguments, given, options);
  assume_values(model, arguments, &found.specs);

  Inputs inputs;
  inputs.source = source_text(options, found.source);
  inputs.description = describe(found.specs, arguments);
  if (data) inputs.notes = data->notes();
  inputs.notes.insert(inputs.notes.end(), found.notes.begin(), found.notes.end());
  const auto make = [&] {
    const std::int64_t batches = data ? data->batches() : std::max(options.batches, options.up_to);
    for (std::int64_t i = 0; i < batches; ++i) {
      Batch batch;
      batch.inputs =
          build_arguments(found.specs, arguments, options.seed + static_cast<std::uint64_t>(i));
      if (data) {
        data->put(i, &batch.inputs);
        batch.labels = data->labels(i);
        if (batch.labels.defined()) batch.labels = batch.labels.to(model.device);
      }
      for (c10::IValue& input : batch.inputs) {
        // Samples of --data are views of one tensor that other minibatches share.
        if (!model.device.is_cpu()) input = input.deepcopy();
        move_to(input, model.device);
      }
      inputs.batches.push_back(std::move(batch));
    }
    return inputs;
  };
  return found.source.empty() ? make() : from_file("the inputs (" + inputs.source + ")", make);
}

}  // namespace hot::models
