#include "bench/options.hpp"

#include <CLI/CLI.hpp>
#include <regex>

namespace hot::bench {
namespace {

std::string check_regex(const std::string& text) {
  try {
    (void)std::regex(text);
    return {};
  } catch (const std::regex_error& error) {
    return "'" + text + "' is no regular expression: " + error.what();
  }
}

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Options options;
  bool all = false;
  CLI::App app(
      "Measures kernels and whole layer backward passes on this CPU, interleaved; writes JSON.");
  app.add_option("--filter", options.filter, "cases whose name this regular expression is found in")
      ->check(CLI::Validator(check_regex, "REGEX"));
  auto* batches =
      app.add_option("--batches", options.batches,
                     "samples a layer gets, e.g. 1,8,32: 197, 1,576, 6,304 rows (default 8)");
  batches->delimiter(',')->check(CLI::Range(1, 4096));
  app.add_flag("--all", all, "batches 1, 8 and 32")->excludes(batches);
  app.add_flag("--quick", options.quick, "ViT-B/16 and ResNet-50 alone, five rounds");
  app.add_flag("--list", options.list, "print the names of the cases and end");
  app.add_option("--threads", options.threads, "threads (default: all that may be used)")
      ->check(CLI::Range(1, 4096));
  auto* rounds = app.add_option("--rounds", options.protocol.rounds,
                                "rounds in which every contender has a turn (default 10)");
  rounds->check(CLI::Range(1, 10000));
  app.add_option("--turn-seconds", options.protocol.turn_seconds,
                 "shortest time of a turn (default 0.01)")
      ->check(CLI::Range(1e-6, 60.0));
  app.add_option("--json", options.json, "file of the results; - is standard output (default)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, app.exit(error) == 0 ? 0 : 2};
  }
  if (options.quick && rounds->count() == 0) options.protocol.rounds = 5;
  if (options.batches.empty()) options.batches = {8};
  if (all) options.batches = {1, 8, 32};
  return {options, 0};
}

}  // namespace hot::bench
