#include "analyzers/device/attribution.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <tuple>

namespace hot::device {
namespace {

using kernels::Activity;

constexpr std::size_t kLongestName = 100;
constexpr double kMsPerNs = 1e-6;

const char* kind_of(Activity::Kind kind) {
  switch (kind) {
    case Activity::Kind::kernel:
      return "kernel";
    case Activity::Kind::copy:
      return "copy";
    default:
      return "set";
  }
}

/// Time in which at least one piece of work ran.
double busy_ms(std::vector<std::pair<std::uint64_t, std::uint64_t>> spans) {
  std::sort(spans.begin(), spans.end());
  std::uint64_t busy = 0;
  std::uint64_t end = 0;
  for (const auto& [from, to] : spans) {
    const std::uint64_t start = std::max(from, end);
    if (to > start) busy += to - start;
    end = std::max(end, to);
  }
  return static_cast<double>(busy) * kMsPerNs;
}

void add(const Activity& a, DeviceWork& row, std::uint64_t& longest) {
  const std::uint64_t ns = a.end_ns - a.start_ns;
  ++row.count;
  row.ms += static_cast<double>(ns) * kMsPerNs;
  row.bytes += a.bytes;
  if (row.count > 1 && ns <= longest) return;
  longest = ns;
  row.grid = a.grid;
  row.block = a.block;
  row.registers = a.registers;
  row.shared_bytes = a.shared_bytes;
}

}  // namespace

std::string readable(const std::string& kernel) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(kernel.c_str(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? plain.get() : kernel;
  if (name.rfind("void ", 0) == 0) name.erase(0, 5);
  if (name.size() > kLongestName) name = name.substr(0, kLongestName - 3) + "...";
  return name;
}

DeviceStep attribute(std::span<const Activity> activities,
                     const std::map<std::uint64_t, Work>& works) {
  DeviceStep step;
  struct Row {
    DeviceWork work;
    std::uint64_t longest = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Row> rows;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
  for (const Activity& a : activities) {
    if (a.kind == Activity::Kind::allocation) step.allocated_bytes += a.bytes;
    if (a.kind == Activity::Kind::allocation || a.kind == Activity::Kind::release) continue;
    const auto found = works.find(a.external);
    const Work work = found == works.end() ? Work{} : found->second;
    auto& [row, longest] = rows[{work.layer, work.path, work.scheme, a.name}];
    if (row.count == 0)
      row = {work.layer, work.path, work.scheme, kind_of(a.kind),
             a.kind == Activity::Kind::kernel ? readable(a.name) : a.name};
    add(a, row, longest);
    spans.emplace_back(a.start_ns, a.end_ns);
  }
  if (spans.empty()) return step;
  const auto first = std::min_element(spans.begin(), spans.end())->first;
  std::uint64_t last = 0;
  for (const auto& span : spans) last = std::max(last, span.second);
  step.span_ms = static_cast<double>(last - first) * kMsPerNs;
  step.busy_ms = busy_ms(std::move(spans));
  for (auto& [key, row] : rows) {
    row.work.share = step.busy_ms > 0 ? row.work.ms / step.busy_ms : 0;
    step.work.push_back(std::move(row.work));
  }
  std::stable_sort(step.work.begin(), step.work.end(),
                   [](const DeviceWork& a, const DeviceWork& b) { return a.ms > b.ms; });
  return step;
}

}  // namespace hot::device
