#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/errors.hpp"

namespace hot::cli {
namespace fs = std::filesystem;
namespace {

EnvironmentError cannot_write(const std::string& where, int error) {
  return EnvironmentError(fmt::format("cannot write {}: {}", where, std::strerror(error)));
}

/// A file descriptor, closed, and a path, removed, unless they were let go.
class Temporary {
 public:
  explicit Temporary(const fs::path& beside) : path_(beside.string() + ".XXXXXX") {
    descriptor_ = mkstemp(path_.data());
    if (descriptor_ < 0) throw cannot_write(beside.string(), errno);
  }
  ~Temporary() {
    close(descriptor_);
    if (!kept_) unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Gives the file the permissions of a new one (mkstemp's are the owner's alone), then its name.
  void become(const fs::path& path) {
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor_, 0666 & ~mask) != 0 || fsync(descriptor_) != 0 ||
        rename(path_.c_str(), path.c_str()) != 0)
      throw cannot_write(path.string(), errno);
    kept_ = true;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool kept_ = false;
};

}  // namespace

void write_all(int descriptor, std::string_view text, const std::string& where) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw cannot_write(where, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Output::Output(const std::string& option, const std::string& target,
               const std::vector<KeptFile>& kept)
    : option_(option), target_(target) {
  if (to_stdout()) {
    regular_ = false;
    path_ = "-";
    return;
  }
  if (target.empty()) throw UsageError(fmt::format("{} '' names no file", option));
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  regular_ = !fs::exists(status) || fs::is_regular_file(status);
  // A pipe's name (/dev/fd/3) resolves to none.
  path_ = regular_ ? fs::weakly_canonical(fs::absolute(target, error), error)
                   : fs::absolute(target, error);
  if (regular_ && error)
    throw UsageError(fmt::format("{} '{}' names no file: {}", option, target, error.message()));
  if (fs::is_directory(status))
    throw UsageError(fmt::format("{} {} is a directory; give a file's name", option, target));
  for (const KeptFile& file : kept) {
    if (fs::equivalent(path_, file.path, error))
      throw UsageError(fmt::format("{} {} would overwrite {}", option, target, file.name));
  }
  const fs::path folder = path_.parent_path();
  if (!fs::is_directory(folder, error))
    throw EnvironmentError(
        fmt::format("{} {}: the folder {} doesn't exist", option, target, folder.string()));
  if (access(regular_ ? folder.c_str() : path_.c_str(), W_OK) != 0)
    throw cannot_write(fmt::format("{} {}", option, target), errno);
}

void Output::write(std::string_view text) const {
  if (to_stdout()) return write_all(STDOUT_FILENO, text, "standard output");
  if (regular_) return replace_file(text);
  const int descriptor = open(path_.c_str(), O_WRONLY);
  if (descriptor < 0) throw cannot_write(target_, errno);
  try {
    write_all(descriptor, text, target_);
  } catch (...) {
    close(descriptor);
    throw;
  }
  if (close(descriptor) != 0) throw cannot_write(target_, errno);
}

void Output::replace_file(std::string_view text) const {
  Temporary temporary(path_);
  write_all(temporary.descriptor(), text, target_);
  temporary.become(path_);
}

}  // namespace hot::cli
