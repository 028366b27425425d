#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace hot::cli {

/// Lays out --help: the forms of the command line, then options with the name of their value and
/// their default alone (what a value may be is in its description, and in the message when it is
/// wrong).
[[nodiscard]] std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace hot::cli
