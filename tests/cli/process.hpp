#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hot::test {

/// What a finished process left.
struct Finished {
  int exit_code = -1;  ///< 128 + signal when a signal ended it
  std::string out;     ///< standard output
  std::string err;     ///< standard error
};

struct ProcessOptions {
  std::string folder;  ///< working directory; empty = the test's
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to the test's own
  bool close_stdout = false;                 ///< nobody reads it: writing gives EPIPE
  std::chrono::seconds timeout{300};         ///< then it is killed and the test fails
  std::function<void(pid_t)> while_running;  ///< called once, after the start
};

/// Runs a program to its end and reads both streams.
[[nodiscard]] Finished run_process(const std::vector<std::string>& arguments,
                                   const ProcessOptions& options = {});

/// hot-analyze of this build.
[[nodiscard]] Finished hot_analyze(std::vector<std::string> arguments,
                                   const ProcessOptions& options = {});

/// Returns when a process has installed a handler for a signal; false if it ended or a minute
/// passed before.
[[nodiscard]] bool wait_until_it_catches(int signal, pid_t process);

/// An empty folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Names of what lies in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::string path_;
};

/// The model that the repository ships and the arguments that analyse it as scripts/analyze does.
[[nodiscard]] std::string shipped_model();
[[nodiscard]] std::vector<std::string> shipped_arguments();

void write_file(const std::string& path, const std::string& text);
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace hot::test
