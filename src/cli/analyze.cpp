#include <spdlog/spdlog.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "cli/progress_line.hpp"
#include "cli/results.hpp"
#include "cli/terminal.hpp"
#include "reports/plan.hpp"

namespace hot::cli {
namespace {

ExitCode exit_code(const Report& report) {
  if (report.interrupted) return ExitCode::environment;
  const bool failed = report.verification && (report.verification->outcome == Outcome::incorrect ||
                                              report.verification->outcome == Outcome::over_limit);
  return failed ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace

ExitCode run_on_model(const Request& request) {
  set_up_messages(request.messages);
  check_device(request.device);
  if (request.pipeline.memory_snapshot) check_memory_snapshot(request.device);
  const Results results(request);
  PipelineOptions pipeline = request.pipeline;
  pipeline.device = request.device;
  pipeline.measure.schemes = resolve_schemes(request.schemes);
  pipeline.select.simulated = !request.schemes.empty();
  if (!request.target.empty()) pipeline.profile.target = resolve_target(request.target);
  pipeline.makes_plan = !request.profile_policy.empty();
  if (!request.plan_file.empty())
    pipeline.plan = reports::read_plan(read_text("--plan", request.plan_file), request.plan_file);

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
