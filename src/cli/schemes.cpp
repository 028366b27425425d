#include "reports/schemes.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>

#include "analyzers/measure/options.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "core/scheme.hpp"

namespace hot::cli {
namespace {

bool is_pattern(const std::string& text) {
  return text == "all" || text.find_first_of("*?") != std::string::npos;
}

std::vector<Scheme> matches(const std::string& pattern) {
  if (pattern == "all") return measure::whole_portfolio();
  std::vector<Scheme> found;
  for (const Scheme& scheme : measure::whole_portfolio())
    if (fnmatch(pattern.c_str(), to_string(scheme).c_str(), 0) == 0) found.push_back(scheme);
  if (found.empty())
    throw UsageError(fmt::format(
        "--schemes: no scheme matches '{}'; see hot-analyze schemes for their names", pattern));
  return found;
}

}  // namespace

std::vector<Scheme> resolve_schemes(const std::vector<std::string>& patterns) {
  std::vector<Scheme> schemes;
  for (const std::string& pattern : patterns) {
    const std::vector<Scheme> named =
        is_pattern(pattern) ? matches(pattern) : std::vector<Scheme>{parse_scheme(pattern)};
    for (const Scheme& scheme : named)
      if (std::find(schemes.begin(), schemes.end(), scheme) == schemes.end())
        schemes.push_back(scheme);
  }
  return schemes;
}

void list_schemes() {
  write_all(STDOUT_FILENO,
            reports::write_schemes(measure::default_portfolio(), measure::whole_portfolio()),
            "standard output");
}

}  // namespace hot::cli
