#include "reports/fail_on.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/errors.hpp"
#include "reports/compare_text.hpp"

namespace hot::reports {
namespace {

struct Alias {
  std::string_view name;
  std::vector<std::string_view> metrics;  ///< the first that both reports have
};

const std::vector<Alias>& aliases() {
  static const std::vector<Alias> table = {
      {"error", {"gradient_error", "mean_relative_error"}},
      {"time", {"plan_ms", "cost"}},
      {"memory", {"saved_bytes_plan", "saved_fraction"}},
  };
  return table;
}

std::vector<std::string_view> metrics_named(const std::string& name) {
  for (const Alias& alias : aliases()) {
    if (alias.name == name) return alias.metrics;
  }
  for (const MetricInfo& info : metric_infos()) {
    if (info.name == name && info.better != Better::neither) return {info.name};
  }
  return {};
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UsageError(fmt::format(
      "--fail-on '{}': {}; write e.g. 'error>5%', 'time>3%', 'speedup<1', 'picks>0' or 'worse'",
      text, why));
}

double read_number(const std::string& text, const std::string& digits) {
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    refuse(text, fmt::format("'{}' is no number", digits));
  }
  return number;
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' '; });
  return text;
}

const Difference& find(const FailOn& condition, const Comparison& comparison) {
  for (const std::string_view metric : metrics_named(condition.name)) {
    for (const Difference& d : comparison.whole) {
      if (d.info().name == metric) return d;
    }
  }
  throw UsageError(fmt::format(
      "--fail-on '{}': {} and {} don't both have {}, so it can't be checked", condition.text,
      comparison.name_a, comparison.name_b, fmt::join(metrics_named(condition.name), " or ")));
}

bool is_change(const Difference& d) {
  return d.change == Change::better || d.change == Change::worse;
}

bool meets(const FailOn& condition, const Difference& d) {
  if (condition.percent) {
    const double percent = 100 * d.relative();
    return (condition.above ? percent > condition.limit : percent < condition.limit) &&
           is_change(d);
  }
  const double noise = d.b.ci95.value_or(0);
  return condition.above ? d.b.value - noise > condition.limit
                         : d.b.value + noise < condition.limit;
}

Check check_picks(const FailOn& condition, const Comparison& comparison) {
  const auto changed = static_cast<double>(comparison.picks.size());
  return {condition.text, condition.above ? changed > condition.limit : changed < condition.limit,
          picks_text(comparison)};
}

Check check_worse(const FailOn& condition, const Comparison& comparison) {
  std::string names;
  for (const Difference& d : comparison.whole) {
    if (d.change != Change::worse) continue;
    fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", d.info().name);
  }
  return {condition.text, !names.empty(), names.empty() ? "nothing is worse" : names};
}

}  // namespace

FailOn parse_fail_on(const std::string& written) {
  const std::string text = without_spaces(written);
  FailOn condition{text, text, true, false, 0};
  if (text == "worse") return condition;
  const auto at = text.find_first_of("<>");
  condition.name = text.substr(0, at);
  if (condition.name != "picks" && metrics_named(condition.name).empty()) {
    refuse(written, fmt::format("no number of a whole model is called '{}'", condition.name));
  }
  if (at == std::string::npos) refuse(written, "it has no limit");
  condition.above = text[at] == '>';
  std::string number = text.substr(at + 1);
  condition.percent = number.ends_with('%');
  if (condition.percent) number.pop_back();
  if (condition.percent && condition.name == "picks")
    refuse(written, "picks are counted, without %");
  condition.limit = read_number(written, number);
  return condition;
}

Check check(const FailOn& condition, const Comparison& comparison) {
  if (condition.name == "picks") return check_picks(condition, comparison);
  if (condition.name == "worse") return check_worse(condition, comparison);
  const Difference& d = find(condition, comparison);
  return {condition.text, meets(condition, d),
          fmt::format("{} {}: {}", d.info().name, difference_text(d), to_string(d.change))};
}

}  // namespace hot::reports
