#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "reports/compare_formats.hpp"
#include "reports/report_reader.hpp"

namespace hot::cli {
namespace {

constexpr std::size_t kPipedWidth = 100;

struct File {
  const reports::ComparisonFormat* format;
  Output output;
};

/// The files that were asked for, checked before the work. Neither report may be overwritten.
std::vector<File> files_of(const Request& request) {
  std::vector<File> files;
  for (const reports::ComparisonFormat& format : reports::comparison_formats()) {
    const auto target = request.output.targets.find(std::string(format.name));
    if (target == request.output.targets.end()) continue;
    const std::string option(format.option);
    Output output(option, target->second, {{request.compare.a, "A"}, {request.compare.b, "B"}});
    for (const File& other : files) {
      if (other.output.same_as(output))
        throw UsageError(fmt::format("{} and {} both go to {}; give each its own file",
                                     other.format->option, option, target->second));
    }
    files.push_back({&format, std::move(output)});
  }
  return files;
}

void print(const reports::Comparison& comparison, const std::vector<reports::Check>& checks,
           bool stdout_taken) {
  const int descriptor = stdout_taken ? STDERR_FILENO : STDOUT_FILENO;
  reports::Style style;
  style.width = is_terminal(descriptor) ? terminal_width(descriptor, kPipedWidth) : kPipedWidth;
  style.colour = wants_colour(descriptor);
  write_all(descriptor, reports::write_comparison(comparison, checks, style),
            stdout_taken ? "standard error" : "standard output");
}

Report read(const char* what, const std::string& path) {
  return reports::read_report_or_plan(read_text(what, path), path);
}

}  // namespace

ExitCode run_compare(const Request& request) {
  const CompareRequest& wanted = request.compare;
  std::vector<reports::FailOn> conditions;
  for (const std::string& text : wanted.fail_on) conditions.push_back(reports::parse_fail_on(text));
  const std::vector<File> files = files_of(request);
  const Report before = read("A", wanted.a);
  const Report after = read("B", wanted.b);
  const reports::Comparison comparison =
      reports::compare(before, wanted.a, after, wanted.b, {wanted.tolerance_percent / 100});
  std::vector<reports::Check> checks;
  for (const reports::FailOn& condition : conditions)
    checks.push_back(reports::check(condition, comparison));

  for (const File& file : files) file.output.write(file.format->write(comparison, checks, {}));
  const bool stdout_taken = std::any_of(files.begin(), files.end(),
                                        [](const File& file) { return file.output.to_stdout(); });
  if (!request.messages.quiet) print(comparison, checks, stdout_taken);
  const bool failed = std::any_of(checks.begin(), checks.end(),
                                  [](const reports::Check& check) { return check.failed; });
  return failed ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace hot::cli
