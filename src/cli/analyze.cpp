#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/messages.hpp"
#include "cli/progress_line.hpp"
#include "cli/results.hpp"
#include "cli/terminal.hpp"
#include "reports/plan.hpp"

namespace hot::cli {
namespace {

Plan read_plan_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || std::filesystem::is_directory(path))
    throw UsageError(fmt::format("--plan {}: cannot be read: {}", path,
                                 std::strerror(errno == 0 ? EISDIR : errno)));
  return reports::read_plan(text.str(), path);
}

ExitCode exit_code(const Report& report) {
  if (report.interrupted) return ExitCode::environment;
  const bool failed = report.verification && report.verification->outcome == Outcome::incorrect;
  return failed ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace

ExitCode run_on_model(const Request& request) {
  set_up_messages(request.messages);
  check_device(request.device);
  const Results results(request);
  PipelineOptions pipeline = request.pipeline;
  pipeline.measure.schemes = resolve_schemes(request.schemes);
  if (request.command == Command::verify) pipeline.plan = read_plan_file(request.plan_file);

  Report report;
  {
    const bool silent = request.messages.quiet || request.messages.no_progress;
    ProgressLine line(!silent && is_terminal(STDERR_FILENO));
    run_pipeline(pipeline, logged(line.listener()), report);
  }
  results.write(report);
  if (report.interrupted) spdlog::error("interrupted: the results hold what was found until then");
  return exit_code(report);
}

}  // namespace hot::cli
