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
constexpr auto kTick = 1s;         // the same while nothing is heard of the stage
constexpr double kFew = 5;         // seconds that need no count

/// Progress is a courtesy: a closed standard error must not end the run.
void draw(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

ProgressLine::~ProgressLine() {
  ticker_.request_stop();
  if (ticker_.joinable()) ticker_.join();
  clear();
}

Progress ProgressLine::listener() {
  if (!enabled_) return nullptr;
  if (!ticker_.joinable()) ticker_ = std::jthread([this](const std::stop_token& s) { tick(s); });
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
  detail_ = detail;
  done_ = done;
  total_ = total;
  last_update_ = now;
  draw_line(now);
}

void ProgressLine::tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, stop, kTick, [] { return false; }) && !stop.stop_requested()) {
    if (!stage_.empty()) draw_line(Clock::now());
  }
}

void ProgressLine::draw_line(Clock::time_point now) {
  if (now - stage_start_ < kSilence || now - last_drawn_ < kInterval) return;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  const std::string shown = fmt::format(
      "{}{}", detail_,
      time_left(done_, total_, seconds(last_update_ - stage_start_), seconds(now - last_update_)));
  draw(fmt::format("\r{}\x1b[K",
                   text(stage_, done_, total_, shown, terminal_width(STDERR_FILENO, 80) - 1)));
  last_drawn_ = now;
  drawn_ = true;
}

std::string ProgressLine::time_left(std::int64_t done, std::int64_t total, double seconds,
                                    double since) {
  const auto amount = [](double s) {
    if (s < 60) return fmt::format("{:.0f} s", s);
    if (s < 5400) return fmt::format("{:.0f} min", s / 60);
    return fmt::format("{:.1f} h", s / 3600);
  };
  if (total > 0 && total <= done) return "";
  const auto parts = static_cast<double>(total - done);
  const double left = done > 0 ? seconds / static_cast<double>(done) * parts - since : 0;
  if (left > 0) return fmt::format(", about {} left", amount(std::max(left, 1.0)));
  const double spent = seconds + since;
  return spent < kFew ? "" : fmt::format(", {} so far", amount(spent));
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
