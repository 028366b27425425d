#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/parse.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace {

/// The first signal asks the run to stop and keep what it has; a second one ends the process.
void on_signal(int /*number*/) {
  hot::request_interrupt();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void handle_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is reported by write()
}

hot::ExitCode run(int argc, char** argv) {
  using hot::cli::Command;
  const hot::cli::Parsed parsed = hot::cli::parse_command_line(argc, argv);
  if (!parsed.request) {
    hot::cli::write_all(STDOUT_FILENO, parsed.text, "standard output");
    return hot::ExitCode::done;
  }
  switch (parsed.request->command) {
    case Command::compare:
      return hot::cli::run_compare(*parsed.request);
    case Command::export_plan:
      hot::cli::run_export(*parsed.request);
      return hot::ExitCode::done;
    case Command::schemes:
      hot::cli::list_schemes();
      return hot::ExitCode::done;
    case Command::devices:
      hot::cli::list_devices();
      return hot::ExitCode::done;
    case Command::analyze:
    case Command::inspect:
    case Command::profile:
    case Command::verify:
    case Command::train:
      break;
  }
  return hot::cli::run_on_model(*parsed.request);
}

int fail(hot::ExitCode code, const std::string& message) {
  fmt::print(stderr, "hot-analyze: {}\n", message);
  return static_cast<int>(code);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

/// The only place where exceptions become exit codes.
int main(int argc, char** argv) {
  handle_signals();
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const hot::Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(hot::ExitCode::environment, "out of memory; a smaller --batch needs less");
  } catch (const std::exception& error) {
    return fail(hot::ExitCode::environment,
                fmt::format("internal error: {}; please report it with the command line",
                            first_line(error.what())));
  }
}
