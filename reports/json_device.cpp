#include "reports/json_device.hpp"

namespace hot::reports {
namespace {

Json step_json(const DeviceStep& step, JsonNumbers& numbers) {
  Json work = Json::array();
  for (const DeviceWork& w : step.work)
    work.push_back({{"layer", w.layer},
                    {"path", w.path},
                    {"scheme", w.scheme},
                    {"kind", w.kind},
                    {"name", w.name},
                    {"count", w.count},
                    {"ms", numbers.number(w.ms, "device work")},
                    {"share", numbers.number(w.share, "device work")},
                    {"grid", w.grid},
                    {"block", w.block},
                    {"registers", w.registers},
                    {"shared_bytes", w.shared_bytes},
                    {"bytes", w.bytes}});
  return {{"origin", "measured"},
          {"busy_ms", numbers.number(step.busy_ms, "device step")},
          {"span_ms", numbers.number(step.span_ms, "device step")},
          {"allocated_bytes", step.allocated_bytes},
          {"dropped", step.dropped},
          {"work", std::move(work)}};
}

}  // namespace

Json device_json(const DeviceProfile& profile, JsonNumbers& numbers) {
  if (!profile.reason.empty()) return {{"reason", profile.reason}};
  Json json = {{"exact", step_json(profile.exact, numbers)}};
  if (!profile.plan.work.empty()) json["plan"] = step_json(profile.plan, numbers);
  return json;
}

}  // namespace hot::reports
