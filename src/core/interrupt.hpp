#pragma once

#include "core/errors.hpp"

namespace hot {

/// Thrown by throw_if_interrupted(); the pipeline catches it and keeps the partial report.
class Interrupted : public Error {
 public:
  Interrupted() : Error(ExitCode::environment, "interrupted") {}
};

/// Async-signal-safe: remembers that the user asked to stop.
void request_interrupt() noexcept;

/// True once an interrupt was requested.
[[nodiscard]] bool interrupt_requested() noexcept;

/// Called by stages between layers and steps. Throws Interrupted.
void throw_if_interrupted();

}  // namespace hot
