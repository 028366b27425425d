#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "core/progress.hpp"

namespace hot::cli {

/// Draws how far a stage is as one line on standard error that is redrawn in place, from a stage's
/// second second on. Draws nothing when `enabled` is false; use progress_wanted() for it.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled) : enabled_(enabled) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// The listener that stages are given. May be called from any thread.
  [[nodiscard]] Progress listener();
  /// Takes the line off the screen, so that other text can follow.
  void clear();

  /// The text of the line, at most `width` columns, e.g. "measure 12/50 blocks.3.mlp.fc1".
  [[nodiscard]] static std::string text(std::string_view stage, std::int64_t done,
                                        std::int64_t total, std::string_view detail,
                                        std::size_t width);

  /// ", about 12 s left" at the pace of the stage so far; empty before its first part is done.
  [[nodiscard]] static std::string time_left(std::int64_t done, std::int64_t total, double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  void update(std::string_view stage, std::int64_t done, std::int64_t total,
              std::string_view detail);

  bool enabled_;
  std::mutex mutex_;
  std::string stage_;
  Clock::time_point stage_start_{};
  Clock::time_point last_drawn_{};
  bool drawn_ = false;
};

}  // namespace hot::cli
