#pragma once

#include <c10/util/Exception.h>

#include <string>
#include <vector>

namespace hot::models {

/// Keeps what torch warns of on this thread, each text once, and off the terminal, while alive.
/// Warnings that torch gives once in a process come every time meanwhile, so that a trial, whose
/// warnings are thrown away, doesn't use them up.
class KeptWarnings {
 public:
  [[nodiscard]] const std::vector<std::string>& texts() const { return handler_.texts; }

  /// A sentence each, for a report.
  [[nodiscard]] std::vector<std::string> notes() const;

  /// Hands them to whoever kept warnings before this was made.
  void pass_on() const;

 private:
  struct Handler : c10::WarningHandler {
    void process(const c10::Warning& warning) override;
    std::vector<std::string> texts;
  };
  Handler handler_;
  c10::WarningHandler* outer_ = c10::WarningUtils::get_warning_handler();
  c10::WarningUtils::WarnAlways always_;
  c10::WarningUtils::WarningHandlerGuard guard_{&handler_};
};

}  // namespace hot::models
