#include "cli/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/help.hpp"
#include "cli/options.hpp"
#include "core/errors.hpp"
#include "reports/training_formats.hpp"

namespace hot::cli {
namespace {

struct CommandInfo {
  Command command;
  const char* name;
  const char* description;
  bool on_a_model;  ///< takes MODEL and runs the pipeline
};

/// The commands with a name; without one, MODEL is analysed.
constexpr std::array<CommandInfo, 8> kCommands = {{
    {Command::inspect, "inspect", "list inputs and every backward GEMM; nothing is timed or judged",
     true},
    {Command::profile, "profile", "where a step's time and memory go, layer by layer", true},
    {Command::verify, "verify", "run a given plan with real kernels beside the exact run", true},
    {Command::train, "train", "train exactly and by a given plan, and compare", true},
    {Command::compare, "compare", "say what changed between two reports or plans", false},
    {Command::export_plan, "export", "write a plan for another tool", false},
    {Command::schemes, "schemes", "list the schemes that can be chosen", false},
    {Command::devices, "devices", "say what this machine can run", false},
}};

constexpr const char* kAbout =
    "Which layers of a TorchScript model can run their backward pass in low precision or low "
    "rank,\n"
    "with which scheme for each of the two gradients, at which error, and what it buys.";

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 the verification or comparison failed; 2 wrong usage; 3 the model or "
    "data\n"
    "can't be used; 4 the environment failed (device, memory, disk) or the run was interrupted.\n"
    "Results go to standard output, messages and progress to standard error.";

bool runs_on_a_model(Command command) {
  return command == Command::analyze ||
         std::any_of(kCommands.begin(), kCommands.end(), [&](const CommandInfo& info) {
           return info.command == command && info.on_a_model;
         });
}

void add_options(CLI::App& app, Command command, Request& request) {
  if (command == Command::compare) return add_compare_options(app, request);
  if (command == Command::export_plan) return add_export_options(app, request.exported);
  if (!runs_on_a_model(command)) return;
  add_model_options(app, request.pipeline);
  add_input_options(app, request.pipeline);
  add_run_options(app, request);
  if (command == Command::analyze) add_choice_options(app, request);
  if (command == Command::train) {
    add_train_options(app, request);
    add_output_options(app, request.output, reports::training_formats(), false, false);
    return add_message_options(app, request.messages);
  }
  if (command == Command::profile) add_profile_options(app, request);
  if (command == Command::analyze || command == Command::verify)
    add_verify_options(app, request.pipeline.verify);
  if (command == Command::verify)
    app.add_option("--plan", request.plan_file, "the plan to run, as analysis wrote it")
        ->type_name("FILE")
        ->required();
  add_output_options(app, request.output, reports::formats(), command == Command::analyze,
                     command == Command::profile);
  add_message_options(app, request.messages);
}

std::string command_names() {
  std::array<const char*, kCommands.size()> names{};
  std::transform(kCommands.begin(), kCommands.end(), names.begin(),
                 [](const CommandInfo& info) { return info.name; });
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "hot-analyze profil m.pt": a bare word that names no file was meant as a command.
void refuse_unknown_command(int argc, const char* const* argv) {
  if (argc < 2) return;
  const std::string word = argv[1];
  const bool known = std::any_of(kCommands.begin(), kCommands.end(),
                                 [&](const CommandInfo& info) { return word == info.name; });
  if (known || word.empty() || word[0] == '-' || word.find_first_of("./") != std::string::npos)
    return;
  if (std::error_code ignored; std::filesystem::exists(word, ignored)) return;
  throw UsageError(
      fmt::format("there is no command or file '{}'; the commands are {}; see hot-analyze --help",
                  word, command_names()));
}

void require_model(const Request& request) {
  if (!request.pipeline.model.path.empty()) return;
  throw UsageError(
      "no model was given: name a TorchScript file, e.g. hot-analyze model.pt; see hot-analyze "
      "--help");
}

/// One seed rules the whole run; inspect is the pipeline's first stage.
void spread(Request& request) {
  PipelineOptions& pipeline = request.pipeline;
  pipeline.inputs.seed = pipeline.measure.seed = pipeline.verify.seed = pipeline.seed;
  if (request.command == Command::inspect) pipeline.last = Stage::trace;
  if (request.command == Command::train) {
    pipeline.train->seed = pipeline.seed;
    pipeline.inputs.whole = true;
  } else {
    pipeline.train.reset();
  }
  pipeline.profiles = request.command == Command::profile;
  pipeline.memory_snapshot = request.output.targets.contains("memory-snapshot");
  // The page draws the front and the roofline.
  const bool draws = request.output.targets.contains("html");
  pipeline.select.pareto = pipeline.select.pareto || draws;
  pipeline.ceilings = draws && request.command == Command::analyze;
  if (!request.profile_policy.empty()) pipeline.select.policy = request.profile_policy;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  refuse_unknown_command(argc, argv);
  Request request;
  CLI::App app(kAbout, "hot-analyze");
  app.footer(kFooter);
  app.formatter(help_formatter());
  app.set_version_flag("--version", std::string("hot-analyze ") + HOT_VERSION);
  app.require_subcommand(0, 1);
  add_options(app, Command::analyze, request);
  for (const CommandInfo& info : kCommands) {
    CLI::App* sub = app.add_subcommand(info.name, info.description);
    sub->group("Commands");
    sub->callback([&request, &info] { request.command = info.command; });
    add_options(*sub, info.command, request);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return {std::nullopt, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw UsageError(one_line(error.what()) + "; see hot-analyze --help");
  }
  if (runs_on_a_model(request.command)) require_model(request);
  spread(request);
  return {request, ""};
}

}  // namespace hot::cli
