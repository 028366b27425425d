#pragma once

#include "cli/request.hpp"
#include "core/errors.hpp"

namespace hot::cli {

/// analyze, inspect, verify and train: the pipeline, its reports, and the exit code that the
/// verification earns. Throws what the pipeline throws, and EnvironmentError when a result can't be
/// written.
[[nodiscard]] ExitCode run_on_model(const Request& request);

/// compare: what changed from one report or plan to another, and the exit code that --fail-on
/// earns. Throws UsageError for files that are neither, or for a condition that can't be checked.
[[nodiscard]] ExitCode run_compare(const Request& request);

/// export: a plan in the words of another tool; what those can't say goes to standard error.
void run_export(const Request& request);

/// schemes: every scheme of the default analysis and the grammar, on standard output.
void list_schemes();

/// devices: the CPU, the integer GEMM route and the GPUs (or why there are none), on standard
/// output.
void list_devices();

/// Refuses `--device` values that this machine or this program can't serve. Throws
/// EnvironmentError.
void check_device(const std::string& device);

/// Refuses --memory-snapshot where the step runs on no GPU: by `--device cpu` (throws UsageError),
/// or since there is none (throws EnvironmentError).
void check_memory_snapshot(const std::string& device);

/// The schemes of `patterns` (schemes or globs with * and ? over the default portfolio's names), in
/// order, each once. Throws UsageError for a pattern that matches nothing, or from parse_scheme().
[[nodiscard]] std::vector<Scheme> resolve_schemes(const std::vector<std::string>& patterns);

}  // namespace hot::cli
