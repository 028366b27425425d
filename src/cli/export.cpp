#include "reports/export.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/messages.hpp"
#include "cli/output.hpp"
#include "reports/report_reader.hpp"

namespace hot::cli {
namespace {

/// The same reason of many picks is said once.
void say(const std::vector<reports::Loss>& losses, const char* what) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const reports::Loss& loss : losses) {
    auto group = groups.begin();
    while (group != groups.end() && group->first != loss.why) ++group;
    if (group == groups.end()) group = groups.insert(groups.end(), {loss.why, {}});
    group->second.push_back(fmt::format("{} {}", loss.layer, to_string(loss.path)));
  }
  constexpr std::size_t kNamed = 3;
  for (auto& [why, picks] : groups) {
    const std::size_t all = picks.size();
    picks.resize(std::min(all, kNamed));
    spdlog::warn("{}: {} ({} gradient{}: {}{})", what, why, all, all == 1 ? "" : "s",
                 fmt::join(picks, ", "), all > kNamed ? " ..." : "");
  }
}

}  // namespace

void run_export(const Request& request) {
  set_up_messages(request.messages);
  const ExportRequest& wanted = request.exported;
  const reports::ExportFormat& format = reports::export_format(wanted.format);
  const Output output("--output", wanted.output, {{wanted.plan_file, "the plan"}});
  const Report report =
      reports::read_report_or_plan(read_text("--plan", wanted.plan_file), wanted.plan_file);
  if (!report.plan)
    throw UsageError(fmt::format("--plan {}: this report has no plan: its run ended before select",
                                 wanted.plan_file));
  const reports::Exported exported = format.write(*report.plan);
  output.write(exported.text);
  say(exported.differs, "differs");
  say(exported.not_expressed, "not expressed, stays exact");
}

}  // namespace hot::cli
