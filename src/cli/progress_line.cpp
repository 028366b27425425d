#include "cli/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal.hpp"

namespace hot::cli {
namespace {

using namespace std::chrono_literals;
constexpr auto kSilence = 1s;      // stages shorter than this draw nothing
constexpr auto kInterval = 100ms;  // between two drawings

/// Progress is a courtesy: a closed standard error must not end the run.
void draw(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

Progress ProgressLine::listener() {
  if (!enabled_) return nullptr;
  return [this](std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view detail) { update(stage, done, total, detail); };
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (drawn_) draw("\r\x1b[K");
  drawn_ = false;
}

void ProgressLine::update(std::string_view stage, std::int64_t done, std::int64_t total,
                          std::string_view detail) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (stage != stage_) {
    stage_ = stage;
    stage_start_ = now;
  }
  if (now - stage_start_ < kSilence || now - last_drawn_ < kInterval) return;
  const std::chrono::duration<double> spent = now - stage_start_;
  const std::string shown = fmt::format("{}{}", detail, time_left(done, total, spent.count()));
  draw(fmt::format("\r{}\x1b[K",
                   text(stage, done, total, shown, terminal_width(STDERR_FILENO, 80) - 1)));
  last_drawn_ = now;
  drawn_ = true;
}

std::string ProgressLine::time_left(std::int64_t done, std::int64_t total, double seconds) {
  if (done <= 0 || total <= done) return "";
  const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
  if (left < 60) return fmt::format(", about {:.0f} s left", std::max(left, 1.0));
  if (left < 5400) return fmt::format(", about {:.0f} min left", left / 60);
  return fmt::format(", about {:.1f} h left", left / 3600);
}

std::string ProgressLine::text(std::string_view stage, std::int64_t done, std::int64_t total,
                               std::string_view detail, std::size_t width) {
  std::string line(stage);
  if (total > 0) line += fmt::format(" {}/{}", done, total);
  if (!detail.empty()) line += fmt::format(" {}", detail);
  if (line.size() > width) line.resize(width);
  return line;
}

}  // namespace hot::cli
