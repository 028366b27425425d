#include <fmt/format.h>

#include "analyzers/profile/target.hpp"
#include "analyzers/select/policies.hpp"
#include "cli/input.hpp"
#include "cli/options.hpp"
#include "core/errors.hpp"
#include "reports/target_reader.hpp"

namespace hot::cli {
namespace {

constexpr const char* kWhatIf = "What if";
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

constexpr double kMostGibibytes = 1e6;  ///< more than any machine has

std::string check_gibibytes(const std::string& text) {
  double gib = 0;
  const bool number = CLI::detail::lexical_cast(text, gib);
  return number && gib > 0 && gib <= kMostGibibytes
             ? ""
             : fmt::format("'{}' is no number of GiB above 0, at most {:.0f}", text,
                           kMostGibibytes);
}

std::string target_names() {
  std::string names;
  for (const TargetRates& rates : profile::known_targets())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", rates.name);
  return names;
}

}  // namespace

TargetRates resolve_target(const std::string& target) {
  for (const TargetRates& rates : profile::known_targets()) {
    if (rates.name == target) return rates;
  }
  if (target.find_first_of("./") == std::string::npos)
    throw UsageError(
        fmt::format("--target {}: no such device is known; give one of {}, or a file "
                    "of rates",
                    target, target_names()));
  return reports::read_target(read_text("--target", target), target);
}

void add_profile_options(CLI::App& app, Request& request) {
  profile::Options& options = request.pipeline.profile;
  app.add_option("--plan", request.plan_file, "a plan whose step is measured beside the exact one")
      ->type_name("FILE")
      ->group("Run");
  app.add_option("--policy,--preset", request.profile_policy,
                 "make a plan and measure it, as analysis does")
      ->type_name("NAME")
      ->check(CLI::IsMember(select::policy_names()))
      ->excludes("--plan")
      ->group("Run");
  app.add_option("--optimizer", options.optimizer,
                 "whose step and states are real: sgd, momentum, adam, adamw")
      ->type_name("NAME")
      ->check(CLI::IsMember({"sgd", "momentum", "adam", "adamw"}))
      ->capture_default_str()
      ->group("Run");
  app.add_option("--repeats", options.repeats, "rounds of timed steps, at most")
      ->check(CLI::Range(2, 10000))
      ->each([&options](const std::string&) { options.more_watching = false; })
      ->type_name("N")
      ->capture_default_str()
      ->group("Run");
  app.add_option("--batch-sizes", options.batch_sizes, "comma list; each is measured")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("LIST")
      ->group(kWhatIf);
  app.add_option_function<double>(
         "--memory-budget",
         [&options](double gib) {
           options.budget_bytes = static_cast<std::int64_t>(gib * kGibibyte);
         },
         "GiB: the largest batch that fits, exact and with the plan")
      ->type_name("GIB")
      ->check(check_gibibytes)
      ->group(kWhatIf);
  app.add_option("--target", request.target,
                 fmt::format("time on a device that isn't here, modelled:\n{},\nor a file of rates",
                             target_names()))
      ->type_name("NAME|FILE")
      ->group(kWhatIf);
}

}  // namespace hot::cli
