#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "core/progress.hpp"

namespace hot::cli {

/// Draws how far a stage is as one line on standard error that is redrawn in place, from a stage's
/// second second on and every second, however long its parts take. Draws nothing when `enabled` is
/// false; use progress_wanted() for it.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled) : enabled_(enabled) {}
  ~ProgressLine();
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

  /// ", about 12 s left" at the pace of the parts that are done, which took `seconds`; `since`
  /// seconds of the next one are over. Until the first is done, and where the next one outlasts the
  /// estimate, ", 12 s so far" of the stage; empty for its first seconds.
  [[nodiscard]] static std::string time_left(std::int64_t done, std::int64_t total, double seconds,
                                             double since = 0);

 private:
  using Clock = std::chrono::steady_clock;
  void update(std::string_view stage, std::int64_t done, std::int64_t total,
              std::string_view detail);

  void draw_line(Clock::time_point now);  ///< call with the mutex held
  void tick(const std::stop_token& stop);

  bool enabled_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::string stage_;
  std::string detail_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  Clock::time_point stage_start_{};
  Clock::time_point last_update_{};
  Clock::time_point last_drawn_{};
  bool drawn_ = false;
  std::jthread ticker_;  ///< redraws while a part takes long
};

}  // namespace hot::cli
