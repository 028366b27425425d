#include "reports/perfetto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/json_text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kCounts = 8000;
constexpr int kProcess = 1;
constexpr int kLayerTrack = 1000;  ///< layers of thread t are on track kLayerTrack + t

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string named(int track, const std::string& name) {
  return fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                     kProcess, track, quoted(name));
}

std::string complete(const TraceSlice& s, const std::string& name, int track) {
  return fmt::format(
      R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"layer":{},"path":{}}}}})",
      quoted(name), quoted(s.detail), kProcess, track, s.begin * 1e6,
      std::max(0.0, s.end - s.begin) * 1e6, quoted(s.layer), quoted(s.detail));
}

std::string counter(const MemoryCount& c) {
  return fmt::format(
      R"({{"ph":"C","name":"live bytes","pid":{},"tid":0,"ts":{:.3f},"args":{{"bytes":{}}}}})",
      kProcess, c.seconds * 1e6, c.bytes);
}

std::vector<MemoryCount> highest(const std::vector<MemoryCount>& all) {
  const std::size_t stretch = std::max<std::size_t>(1, (all.size() + kCounts - 1) / kCounts);
  std::vector<MemoryCount> result;
  for (std::size_t i = 0; i < all.size(); i += stretch) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), i + stretch));
    result.push_back(*std::max_element(
        begin, end, [](const auto& a, const auto& b) { return a.bytes < b.bytes; }));
  }
  return result;
}

}  // namespace

std::string write_perfetto(const StepTrace& step) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  bool first = true;
  const auto add = [&](const std::string& event) {
    text += first ? "" : ",\n";
    text += event;
    first = false;
  };
  add(fmt::format(
      R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"training step"}}}})",
      kProcess));
  std::set<int> threads;
  for (const TraceSlice& slice : step.slices) threads.insert(slice.thread);
  for (const int thread : threads) {
    add(named(thread + 1, fmt::format("operations {}", thread)));
    add(named(kLayerTrack + thread, fmt::format("layers {}", thread)));
  }
  for (const TraceSlice& slice : step.slices) {
    add(complete(slice, slice.name, slice.thread + 1));
    if (slice.layer_slice)
      add(complete(slice, fmt::format("{} {}", slice.layer, slice.detail),
                   kLayerTrack + slice.thread));
  }
  for (const MemoryCount& count : highest(step.memory)) add(counter(count));
  return text + "\n]}\n";
}

}  // namespace hot::reports
