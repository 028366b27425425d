#pragma once

#include <string>

namespace hot::device {

/// Whose work is put onto the device: a layer, one of its paths ("forward", "grad_input",
/// "grad_weight", "backward" for what belongs to neither gradient), and the scheme it runs by.
struct Work {
  std::string layer, path, scheme;

  /// "encoder.fc1 / grad_input / had16+int8/tensor/nearest".
  [[nodiscard]] std::string text() const;
};

/// Told on the thread that does the work, in pairs.
class WorkObserver {
 public:
  virtual ~WorkObserver() = default;
  virtual void enter(const Work& work) = 0;
  virtual void leave() = 0;
};

/// While alive, `observer` is told of all work of this process. Several may be.
class WatchedWork {
 public:
  explicit WatchedWork(WorkObserver& observer);
  ~WatchedWork();
  WatchedWork(const WatchedWork&) = delete;
  WatchedWork& operator=(const WatchedWork&) = delete;

 private:
  WorkObserver& observer_;
};

/// True if anyone is told: making a Work costs strings.
[[nodiscard]] bool work_is_watched();

/// The work of this thread while alive. An empty layer is the enclosing scope's.
class WorkScope {
 public:
  WorkScope() = default;
  explicit WorkScope(Work work);
  ~WorkScope();
  WorkScope(WorkScope&& other) noexcept;
  WorkScope& operator=(WorkScope&&) = delete;
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  bool told_ = false;
};

}  // namespace hot::device
