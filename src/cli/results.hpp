#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/output.hpp"
#include "cli/request.hpp"
#include "core/report.hpp"
#include "reports/formats.hpp"

namespace hot::cli {

/// Where a run's results go: checked when made, before the work, and written after it.
class Results {
 public:
  /// Throws UsageError or EnvironmentError for a destination that can't be written or is asked for
  /// twice.
  explicit Results(const Request& request);

  /// Writes the files, then prints the table: on standard output, or on standard error where a file
  /// format took that. A format about a part that the run didn't reach is left out.
  void write(const Report& report) const;

 private:
  void print_table(const Report& report) const;

  std::vector<std::pair<const reports::Format*, Output>> files_;
  const reports::Format* table_ = nullptr;  ///< the format that is printed; none if quiet
  bool stdout_taken_ = false;               ///< by one of the files
};

}  // namespace hot::cli
