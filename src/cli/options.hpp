#pragma once

#include <CLI/CLI.hpp>

#include "cli/request.hpp"
#include "reports/formats.hpp"

/// One table a stage: names, meaning, default and check of its options. Help text and parsing come
/// from here alone.
namespace hot::cli {

void add_model_options(CLI::App& app, PipelineOptions& options);
void add_input_options(CLI::App& app, PipelineOptions& options);
void add_run_options(CLI::App& app, Request& request);
void add_choice_options(CLI::App& app, Request& request);
void add_verify_options(CLI::App& app, verify::Options& options);
void add_train_options(CLI::App& app, Request& request);
void add_message_options(CLI::App& app, MessageOptions& options);

/// profile: what is measured, and what-if.
void add_profile_options(CLI::App& app, Request& request);
/// The rates of a known device, or of a file. Throws UsageError.
[[nodiscard]] TargetRates resolve_target(const std::string& target);

void add_compare_options(CLI::App& app, Request& request);
void add_export_options(CLI::App& app, ExportRequest& request);

/// One flag for each of the formats that has one; --plan only where the command makes a plan,
/// --trace only where it observes a step.
void add_output_options(CLI::App& app, OutputOptions& options,
                        const std::vector<reports::Format>& formats, bool makes_plan,
                        bool observes_step);

}  // namespace hot::cli
