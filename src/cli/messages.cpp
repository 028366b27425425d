#include "cli/messages.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace hot::cli {

void set_up_messages(const MessageOptions& options) {
  auto logger = std::make_shared<spdlog::logger>("hot-analyze",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(options.verbose ? "hot-analyze: [%T.%e] %v" : "hot-analyze: %v");
  logger->set_level(options.quiet     ? spdlog::level::err
                    : options.verbose ? spdlog::level::debug
                                      : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

Progress logged(Progress next) {
  auto current = std::make_shared<std::string>();
  return [next = std::move(next), current](std::string_view stage, std::int64_t done,
                                           std::int64_t total, std::string_view detail) {
    if (*current != stage) {
      *current = stage;
      spdlog::debug("{}", stage);
    }
    if (next) next(stage, done, total, detail);
  };
}

}  // namespace hot::cli
