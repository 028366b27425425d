#include "cli/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>

#include "analyzers/select/policies.hpp"
#include "reports/compare_formats.hpp"
#include "reports/export.hpp"
#include "reports/formats.hpp"

namespace hot::cli {
namespace {

/// Calibration batches without --batches: the noise of minibatches has three degrees of freedom.
constexpr int kBatches = 4;

constexpr const char* kInputs = "Inputs";
constexpr const char* kRun = "Run";
constexpr const char* kChoice = "Choice of schemes";
constexpr const char* kOutput = "Output";

/// An option that can be given several times, one value each (so that it never swallows MODEL).
CLI::Option* repeatable(CLI::Option* option) {
  return option->allow_extra_args(false)->take_all();
}

/// A limit with a unit, read by `parse`.
CLI::Option* limit_option(CLI::App& app, const char* name, select::Budget& budget,
                          select::Budget (*parse)(const std::string&), const char* help) {
  return app
      .add_option_function<std::string>(
          name, [&budget, parse](const std::string& text) { budget = parse(text); }, help)
      ->type_name("X")
      ->group(kChoice);
}

}  // namespace

void add_model_options(CLI::App& app, PipelineOptions& options) {
  app.add_option("MODEL", options.model.path, "TorchScript file (torch.jit.save)");
  app.add_option("--method", options.model.method, "method of the module that is run")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(kInputs);
  repeatable(app.add_option("--load-library", options.model.libraries,
                            "shared object with custom operators, loaded before the model"))
      ->type_name("FILE")
      ->group(kInputs);
}

void add_input_options(CLI::App& app, PipelineOptions& options) {
  repeatable(app.add_option("--input", options.inputs.inputs,
                            "[NAME=][TYPE:]SHAPE[:LOW..HIGH], e.g. 8x3x224x224 or\n"
                            "tokens=int64:8x128:0..30521; once per argument, in order"))
      ->type_name("SPEC")
      ->group(kInputs);
  app.add_option("--data", options.inputs.data,
                 "real inputs: .pt of tensors, .safetensors, .npz or .npy")
      ->type_name("FILE")
      ->group(kInputs);
  app.add_option("--labels", options.inputs.labels, "labels: a file, or a key inside --data")
      ->type_name("FILE")
      ->group(kInputs);
  app.add_option("--loss", options.loss,
                 "auto, cross-entropy, mse, or output: a random projection\nof the outputs")
      ->type_name("KIND")
      ->check(CLI::IsMember({"auto", "cross-entropy", "mse", "output"}))
      ->capture_default_str()
      ->group(kInputs);
  app.add_option("--batch", options.inputs.batch, "samples in a minibatch (default: the source's)")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N")
      ->group(kInputs);
  options.inputs.up_to = kBatches;
  app.add_option("--batches", options.inputs.batches,
                 "minibatches that are measured (default: 4, or as many as\n--data has)")
      ->check(CLI::Range(1, 1 << 20))
      ->each([&options](const std::string&) { options.inputs.up_to = 0; })
      ->type_name("N")
      ->group(kInputs);
  app.add_option("--seed", options.seed, "of inputs, labels, dropout and stochastic rounding")
      ->check(CLI::Validator(
          [](std::string& text) {
            std::uint64_t seed = 0;
            const char* end = text.data() + text.size();
            const auto read = std::from_chars(text.data(), end, seed);
            return read.ec == std::errc() && read.ptr == end
                       ? std::string()
                       : "'" + text + "' is no integer from 0 to 18446744073709551615";
          },
          "", "seed"))
      ->type_name("N")
      ->capture_default_str()
      ->group(kInputs);
}

void add_run_options(CLI::App& app, Request& request) {
  app.add_option("--device", request.device, "auto, cpu, cuda or cuda:INDEX")
      ->check(CLI::Validator(
          [](std::string& text) {
            const bool indexed = text.rfind("cuda:", 0) == 0 && text.size() > 5 &&
                                 text.find_first_not_of("0123456789", 5) == std::string::npos;
            return text == "auto" || text == "cpu" || text == "cuda" || indexed
                       ? std::string()
                       : "'" + text + "' is not auto, cpu, cuda or cuda:INDEX";
          },
          "", "device"))
      ->type_name("DEVICE")
      ->capture_default_str()
      ->group(kRun);
  app.add_option("--threads", request.pipeline.threads,
                 "CPU threads (default: as LibTorch chooses)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->group(kRun);
}

void add_choice_options(CLI::App& app, Request& request) {
  app.add_option("--schemes", request.schemes,
                 "comma list of schemes or patterns of them, e.g. 'had16+int4/*'\n"
                 "(see hot-analyze schemes); all: every scheme")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->group(kChoice);
  select::Options& choice = request.pipeline.select;
  app.add_option("--policy,--preset", choice.policy,
                 "auto: the best plan of all under the limits;\n"
                 "layerwise: each gradient by itself; lqs: hot within the limit;\n"
                 "whole methods: hot, hlq, lbp-wht, luq, int4, int8, nvfp4,\n"
                 "adahop")
      ->type_name("NAME")
      ->check(CLI::IsMember(select::policy_names()))
      ->capture_default_str()
      ->group(kChoice);
  limit_option(app, "--max-error", choice.max_error, select::parse_error_budget,
               "relative error of the whole gradient that auto allows,\n"
               "or in units of the minibatch noise: 0.5sigma")
      ->default_str(choice.max_error.text);
  limit_option(app, "--time-budget", choice.time_budget, select::parse_time_budget,
               "most time of the layers' backward pass: 80% of exact, 120ms");
  limit_option(app, "--memory-budget", choice.memory_budget, select::parse_memory_budget,
               "most bytes kept for backward: 60% of exact, 1.5GB");
  app.add_option("--minimize", choice.minimize,
                 "what auto makes least: time, error or memory\n"
                 "(auto: error under a time budget, else time)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"auto", "time", "error", "memory"}))
      ->capture_default_str()
      ->group(kChoice);
  app.add_flag("--pareto", choice.pareto,
               "find the whole front of error against time and memory\n"
               "(--html draws it, and does so without being told)")
      ->group(kChoice);
  app.add_option("--keep-exact", request.pipeline.select.keep_exact,
                 "comma list of layers or patterns that stay exact, e.g. 'head*'")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->group(kChoice);
  app.add_option_function<std::string>(
         "--stop-after",
         [&request](const std::string& name) { request.pipeline.last = parse_stage(name); },
         "last stage: trace, measure, select or verify (default)")
      ->type_name("STAGE")
      ->check(CLI::IsMember(stage_names()))
      ->group(kRun);
}

void add_verify_options(CLI::App& app, verify::Options& options) {
  app.add_option("--repeats", options.repeats,
                 "timed pairs of exact and planned steps (default: fewer\nwhere two decide)")
      ->check(CLI::Range(1, 10000))
      ->each([&options](const std::string&) { options.until_decided = false; })
      ->type_name("N")
      ->capture_default_str()
      ->group(kRun);
}

void add_output_options(CLI::App& app, OutputOptions& options,
                        const std::vector<reports::Format>& formats, bool makes_plan,
                        bool observes_step) {
  for (const reports::Format& format : formats) {
    if (format.option.empty() || (format.name == "plan" && !makes_plan)) continue;
    const bool of_a_step = format.name == "perfetto" || format.name == "memory-snapshot";
    if (of_a_step && !observes_step) continue;
    const std::string name(format.name);
    app.add_option_function<std::string>(
           std::string(format.option),
           [&options, name](const std::string& target) { options.targets[name] = target; },
           fmt::format("write {}; -: to standard output", format.description))
        ->type_name("FILE")
        ->group(kOutput);
  }
}

void add_compare_options(CLI::App& app, Request& request) {
  CompareRequest& compare = request.compare;
  app.add_option("A", compare.a, "report (--json) or plan (--plan) before")->required();
  app.add_option("B", compare.b, "the same after")->required();
  app.add_option("--fail-on", compare.fail_on,
                 "comma list of conditions for exit code 1: 'error>5%',\n"
                 "'time>3%', 'memory>0%', 'speedup<1', 'picks>0', 'worse';\n"
                 "a change must exceed its noise")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  app.add_option("--tolerance", compare.tolerance_percent, "percent that count as the same")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("X")
      ->capture_default_str();
  for (const reports::ComparisonFormat& format : reports::comparison_formats()) {
    if (format.option.empty()) continue;
    const std::string name(format.name);
    app.add_option_function<std::string>(
           std::string(format.option),
           [&request, name](const std::string& target) { request.output.targets[name] = target; },
           fmt::format("write {}; -: to standard output", format.description))
        ->type_name("FILE")
        ->group(kOutput);
  }
  app.add_flag("--quiet,-q", request.messages.quiet, "no table: files and the exit code alone")
      ->group(kOutput);
}

void add_export_options(CLI::App& app, ExportRequest& request) {
  app.add_option("--plan", request.plan_file, "the plan, or a report that has one")
      ->type_name("FILE")
      ->required();
  std::string names;
  std::vector<std::string> list;
  for (const reports::ExportFormat& format : reports::export_formats()) {
    list.emplace_back(format.name);
    names += fmt::format("{}{}: {}", names.empty() ? "" : ";\n", format.name, format.description);
  }
  app.add_option("--format", request.format, names)
      ->type_name("NAME")
      ->check(CLI::IsMember(list))
      ->required();
  app.add_option("--output,-o", request.output, "where it goes; -: to standard output")
      ->type_name("FILE")
      ->capture_default_str();
}

void add_message_options(CLI::App& app, MessageOptions& options) {
  auto* quiet = app.add_flag("--quiet,-q", options.quiet,
                             "no table, messages or progress: files and the exit code alone")
                    ->group(kOutput);
  app.add_flag("--verbose,-v", options.verbose, "say which stage runs, and when")
      ->excludes(quiet)
      ->group(kOutput);
  app.add_flag("--no-progress", options.no_progress, "draw no progress line")->group(kOutput);
}

}  // namespace hot::cli
