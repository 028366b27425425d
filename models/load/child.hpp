#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace hot::models {

/// How a child process ended.
struct ChildResult {
  enum class End { returned, signalled, exited, timed_out };
  End end = End::returned;
  int code = 0;        ///< the signal's number or the exit status
  std::string output;  ///< what `work` returned
};

/// Runs `work` in a forked copy of this process, so that a crash there is only reported, and waits
/// for it. The copy writes nothing to stdout and stderr, leaves no core file, ends with this
/// process, and is the first that the system ends when memory runs out. It has only the calling
/// thread; `work` must not need others. Throws EnvironmentError if no process can be started,
/// Interrupted on an interrupt.
[[nodiscard]] ChildResult run_in_child(const std::function<std::string()>& work,
                                       std::chrono::seconds limit);

}  // namespace hot::models
