#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline.hpp"

namespace hot::cli {

enum class Command {
  analyze,
  inspect,
  profile,
  verify,
  train,
  compare,
  export_plan,
  schemes,
  devices
};

/// Where results go besides the table: a file, or "-" for standard output, by the name of the
/// report format.
struct OutputOptions {
  std::map<std::string, std::string> targets;
};

/// What is said on standard error, and whether the table is printed.
struct MessageOptions {
  bool quiet =
      false;  ///< neither table nor messages nor progress: files, errors and the exit code alone
  bool verbose = false;  ///< say which stage runs, and when
  bool no_progress = false;
};

/// compare: two reports or plans.
struct CompareRequest {
  std::string a;
  std::string b;
  std::vector<std::string> fail_on;  ///< conditions (reports/fail_on.hpp)
  double tolerance_percent = 1;      ///< differences up to it are none
};

/// export: a plan for another tool.
struct ExportRequest {
  std::string plan_file;  ///< a plan, or a report that has one
  std::string format;
  std::string output = "-";
};

/// What the user asked for, checked as far as that goes without touching the model.
struct Request {
  Command command = Command::analyze;
  PipelineOptions pipeline;
  std::string device = "auto";  ///< auto | cpu | cuda | cuda:<index>
  std::vector<std::string>
      schemes;                 ///< schemes or glob patterns of schemes; empty = all of the default
  std::string plan_file;       ///< verify, train, profile: the plan to run
  std::string profile_policy;  ///< profile: makes a plan; empty: none
  std::string target;          ///< profile: --target
  CompareRequest compare;
  ExportRequest exported;
  OutputOptions output;
  MessageOptions messages;
};

}  // namespace hot::cli
