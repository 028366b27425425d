#pragma once

#include <stdexcept>
#include <string>

namespace hot {

/// Exit codes of the command line; `main` alone turns an exception into one of them.
enum class ExitCode { done = 0, check_failed = 1, usage = 2, model = 3, environment = 4 };

/// Base of everything this project throws on purpose. `what()` is one line: what was wrong, where,
/// and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The command line, a scheme, or a plan asks for something that does not exist or is not allowed
/// (exit 2).
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// The model or the data cannot be used (exit 3).
class ModelError : public Error {
 public:
  explicit ModelError(const std::string& message) : Error(ExitCode::model, message) {}
};

/// Device, memory, disk or libraries failed (exit 4).
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& message) : Error(ExitCode::environment, message) {}
};

}  // namespace hot
