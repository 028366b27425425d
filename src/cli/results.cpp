#include "cli/results.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>

#include "cli/gzip.hpp"
#include "cli/terminal.hpp"
#include "core/errors.hpp"
#include "reports/training_formats.hpp"

namespace hot::cli {
namespace {

constexpr std::size_t kPipedWidth = 100;

/// Everything that the run reads. (--labels may be a key; no file is called that, mostly.)
std::vector<KeptFile> files_read(const Request& request) {
  const PipelineOptions& pipeline = request.pipeline;
  std::vector<KeptFile> files = {{pipeline.model.path, "the model"},
                                 {pipeline.inputs.data, "the data"},
                                 {pipeline.inputs.labels, "the labels"},
                                 {request.plan_file, "the plan that is read"}};
  for (const std::string& library : pipeline.model.libraries)
    files.push_back({library, "the library"});
  return files;
}

/// The format called `name` among those of the command.
const reports::Format& format_of(const Request& request, const std::string& name) {
  if (request.command == Command::train) {
    for (const reports::Format& format : reports::training_formats())
      if (format.name == name) return format;
  }
  return reports::format(name);
}

}  // namespace

Results::Results(const Request& request) {
  const std::vector<KeptFile> kept = files_read(request);
  for (const auto& [name, target] : request.output.targets) {
    const reports::Format& format = format_of(request, name);
    if (format.name == "plan" && request.pipeline.last < Stage::select)
      throw UsageError(fmt::format("{} needs a plan, but --stop-after {} ends before select",
                                   format.option, to_string(request.pipeline.last)));
    Output output(std::string(format.option), target, kept);
    const auto twin = std::find_if(files_.begin(), files_.end(),
                                   [&](const auto& file) { return file.second.same_as(output); });
    if (twin != files_.end())
      throw UsageError(fmt::format("{} and {} both go to {}; give each its own file",
                                   twin->first->option, format.option, target));
    stdout_taken_ = stdout_taken_ || output.to_stdout();
    files_.emplace_back(&format, std::move(output));
  }
  if (!request.messages.quiet)
    table_ = &format_of(request, request.command == Command::inspect   ? "trace"
                                 : request.command == Command::profile ? "profile"
                                                                       : "terminal");
}

void Results::write(const Report& report) const {
  for (const auto& [format, output] : files_) {
    if (!format->can_write(report)) {
      spdlog::warn("{} was not written: the run ended before there was anything for {}",
                   output.target(), format->option);
      continue;
    }
    const std::string text = format->write(report, {});
    const bool packed = format->name == "perfetto" && output.target().ends_with(".gz");
    output.write(packed ? gzip(text) : text);
    spdlog::debug("{} written", output.target());
  }
  if (table_ != nullptr) print_table(report);
}

void Results::print_table(const Report& report) const {
  if (!table_->can_write(report)) return;
  const int descriptor = stdout_taken_ ? STDERR_FILENO : STDOUT_FILENO;
  reports::Style style;
  style.width = is_terminal(descriptor) ? terminal_width(descriptor, kPipedWidth) : kPipedWidth;
  style.colour = wants_colour(descriptor);
  write_all(descriptor, table_->write(report, style),
            stdout_taken_ ? "standard error" : "standard output");
}

}  // namespace hot::cli
