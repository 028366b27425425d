#include "analyzers/select/budget.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>
#include <string_view>

#include "core/errors.hpp"

namespace hot::select {
namespace {

struct Unit {
  std::string_view name;
  double factor;
  bool relative;
};

Budget parse(std::string_view option, const std::string& text, std::span<const Unit> units,
             std::string_view example) {
  const auto refuse = [&] {
    throw UsageError(fmt::format("{} '{}' is no limit; write e.g. {}", option, text, example));
  };
  double value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || !std::isfinite(value) || value <= 0) refuse();
  const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  for (const Unit& known : units) {
    if (unit == known.name) return {value * known.factor, known.relative, text};
  }
  refuse();
  return {};
}

}  // namespace

Budget parse_error_budget(const std::string& text) {
  static constexpr Unit kUnits[] = {{"", 1, false}, {"%", 0.01, false}, {"sigma", 1, true}};
  return parse("--max-error", text, kUnits, "0.1 or 0.5sigma");
}

Budget parse_time_budget(const std::string& text) {
  static constexpr Unit kUnits[] = {{"%", 0.01, true}, {"ms", 1, false}, {"s", 1000, false}};
  return parse("--time-budget", text, kUnits, "80% or 120ms");
}

Budget parse_memory_budget(const std::string& text) {
  static constexpr Unit kUnits[] = {{"%", 0.01, true},  {"B", 1, false},    {"kB", 1e3, false},
                                    {"MB", 1e6, false}, {"GB", 1e9, false}, {"TB", 1e12, false}};
  return parse("--memory-budget", text, kUnits, "60% or 1.5GB");
}

}  // namespace hot::select
