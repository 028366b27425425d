#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hot::cli {

/// Writes all of `text` to a file descriptor. Throws EnvironmentError naming `where` and the
/// system's reason.
void write_all(int descriptor, std::string_view text, const std::string& where);

/// A file that no result may overwrite, and what to call it, e.g. "the model".
struct KeptFile {
  std::string path;
  std::string name;
};

/// A result's destination, checked when it is made, so that hours of work aren't lost to a wrong
/// path. A regular file appears whole or not at all: a temporary name in the same folder, then a
/// rename. "-" is standard output; devices and pipes are written directly.
class Output {
 public:
  /// `option` is what the user wrote, for messages. Throws UsageError or EnvironmentError when
  /// `target` can't be written, or is one of `kept`.
  Output(const std::string& option, const std::string& target,
         const std::vector<KeptFile>& kept = {});

  [[nodiscard]] bool to_stdout() const { return target_ == "-" || target_ == "/dev/stdout"; }
  [[nodiscard]] const std::string& target() const { return target_; }
  /// Same file as another output.
  [[nodiscard]] bool same_as(const Output& other) const { return path_ == other.path_; }
  /// Throws EnvironmentError; an old file is then as it was.
  void write(std::string_view text) const;

 private:
  void replace_file(std::string_view text) const;

  std::string option_;
  std::string target_;
  std::filesystem::path path_;  ///< links resolved
  bool regular_ = true;         ///< false for standard output, devices and pipes
};

}  // namespace hot::cli
