#include "models/load/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace hot::models {
namespace {

using Clock = std::chrono::steady_clock;

void write_all(int file, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

/// Nothing that the work prints, dumps or uses up should reach the user or the parent.
void become_child(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_DFL);
  for (const int crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(crash, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (const int null = ::open("/dev/null", O_RDWR); null >= 0) {
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
  }
  if (const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    write_all(score, "1000", 4);
    ::close(score);
  }
}

[[noreturn]] void child_main(const std::function<std::string()>& work, int output, pid_t parent) {
  become_child(parent);
  try {
    const std::string text = work();
    write_all(output, text.data(), text.size());
    ::_exit(0);
  } catch (...) {
    ::_exit(1);
  }
}

/// Collects what arrives until the other side closes. False when the time is over.
bool collect(int input, Clock::time_point deadline, std::string& output) {
  std::array<char, 4096> buffer;
  while (true) {
    throw_if_interrupted();
    if (Clock::now() > deadline) return false;
    pollfd waiting{input, POLLIN, 0};
    if (::poll(&waiting, 1, 100) <= 0) continue;
    const ssize_t got = ::read(input, buffer.data(), buffer.size());
    if (got == 0) return true;
    if (got > 0) output.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// The reading end of a pipe and the process at its other end; both are gone when this is.
struct Child {
  pid_t pid = -1;
  int input = -1;
  Child(pid_t process, int file) : pid(process), input(file) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      wait();
    }
    ::close(input);
  }
  int wait() {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
    return status;
  }
};

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work, std::chrono::seconds limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("no pipe can be opened: {}", std::strerror(errno)));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw EnvironmentError(
        fmt::format("no process can be started: {}; free memory or raise the limit (ulimit -u)",
                    std::strerror(error)));
  }
  if (pid == 0) child_main(work, ends[1], parent);
  ::close(ends[1]);
  Child child(pid, ends[0]);
  ChildResult result;
  if (!collect(child.input, Clock::now() + limit, result.output)) {
    result.end = ChildResult::End::timed_out;
    return result;
  }
  const int status = child.wait();
  if (WIFSIGNALED(status)) {
    result.end = ChildResult::End::signalled;
    result.code = WTERMSIG(status);
  } else if (WEXITSTATUS(status) != 0) {
    result.end = ChildResult::End::exited;
    result.code = WEXITSTATUS(status);
  }
  return result;
}

}  // namespace hot::models
