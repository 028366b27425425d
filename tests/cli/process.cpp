#include "tests/cli/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace hot::test {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read_end = ends[0];
    write_end = ends[1];
  }
};

[[noreturn]] void become(const std::vector<std::string>& arguments, const ProcessOptions& options,
                         const Pipe& out, const Pipe& err) {
  dup2(out.write_end, STDOUT_FILENO);
  dup2(err.write_end, STDERR_FILENO);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM}) signal(number, SIG_DFL);
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

/// Reads both streams until both end; false if time ran out before.
bool drain(int out, int err, std::chrono::steady_clock::time_point deadline, Finished& finished) {
  std::array<pollfd, 2> streams = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  const std::array<std::string*, 2> texts = {&finished.out, &finished.err};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(streams.data(), streams.size(), 200);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].fd < 0 || streams[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t count = read(streams[i].fd, buffer.data(), buffer.size());
      if (count <= 0) {
        streams[i].fd = -1;
      } else {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      }
    }
  }
  return true;
}

}  // namespace

Finished run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  Pipe out;
  Pipe err;
  const pid_t child = fork();
  if (child == 0) become(arguments, options, out, err);
  close(out.write_end);
  close(err.write_end);
  if (options.close_stdout) close(out.read_end);
  std::thread beside;
  if (options.while_running) beside = std::thread(options.while_running, child);

  Finished finished;
  const auto deadline = std::chrono::steady_clock::now() + options.timeout;
  if (!drain(options.close_stdout ? -1 : out.read_end, err.read_end, deadline, finished)) {
    kill(child, SIGKILL);
    ADD_FAILURE() << arguments[0] << " ran longer than " << options.timeout.count() << " s";
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (beside.joinable()) beside.join();
  if (!options.close_stdout) close(out.read_end);
  close(err.read_end);
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

Finished hot_analyze(std::vector<std::string> arguments, const ProcessOptions& options) {
  arguments.insert(arguments.begin(), HOT_BUILD_DIR "/hot-analyze");
  return run_process(arguments, options);
}

bool wait_until_it_catches(int number, pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/status";
  for (int tries = 0; tries < 600; ++tries) {
    const std::string status = read_file(path);
    const std::size_t mask = status.find("SigCgt:");
    if (mask == std::string::npos) return false;
    const auto caught = std::stoull(status.substr(mask + 7), nullptr, 16);
    if ((caught >> (number - 1) & 1) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

TemporaryFolder::TemporaryFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "hot-test-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) std::abort();
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string shipped_model() {
  return HOT_SOURCE_DIR "/models/digits_vit.pt";
}

std::vector<std::string> shipped_arguments() {
  return {shipped_model(), "--data", HOT_SOURCE_DIR "/models/digits_calibration.pt"};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace hot::test
