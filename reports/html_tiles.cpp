#include "reports/html_tiles.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "reports/html_parts.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

/// With a true minus sign.
std::string signed_percent(double fraction) {
  const std::string text = fmt::format("{:+.0f} %", 100 * fraction);
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

/// `whole`: of the step that it is a part of, or nullptr.
std::string speed_tile(const std::string& title, const Metric& speedup, const Metric* whole) {
  const bool noise = std::abs(speedup.value - 1) <= speedup.ci95.value_or(0);
  std::string more = noise               ? "the exact speed within the noise"
                     : speedup.value > 1 ? "as fast as exact"
                                         : "the exact speed: slower";
  if (whole != nullptr)
    more += fmt::format("; the whole step {:.2f} ×{}", whole->value,
                        whole->ci95 ? fmt::format(" ± {:.2g}", *whole->ci95) : "");
  return html_tile(title, fmt::format("{:.2f} ×", speedup.value), more, speedup);
}

std::string verified_tiles(const Metrics& total) {
  std::string text;
  if (const Metric* speedup = total.find("speedup"))
    text += speed_tile("Backward of the planned layers", *speedup, total.find("step_speedup"));
  const Metric* exact = total.find("saved_bytes_exact");
  const Metric* plan = total.find("saved_bytes_plan");
  if (exact != nullptr && plan != nullptr && exact->value > 0) {
    text += html_tile(
        "Kept for backward", signed_percent(plan->value / exact->value - 1),
        fmt::format("{} instead of {}", bytes_text(plan->value), bytes_text(exact->value)), *plan);
  }
  if (const Metric* error = total.find("gradient_error")) {
    const Metric* cosine = total.find("gradient_cosine");
    text += html_tile("Gradient error", fmt::format("{:.2g} %", 100 * error->value),
                      cosine == nullptr
                          ? "of all parameters together"
                          : fmt::format("cosine {:.4f}, all parameters together", cosine->value),
                      *error);
  }
  return text;
}

std::string predicted_tiles(const Metrics& predicted) {
  std::string text;
  for (const auto& [name, title, more] :
       {std::tuple{"cost", "Backward products", "of the exact cost"},
        std::tuple{"saved_fraction", "Layer inputs kept", "of FP32"},
        std::tuple{"largest_relative_error", "Largest error", "of one gradient"}}) {
    if (const Metric* metric = predicted.find(name)) {
      text += html_tile(title, fmt::format("{:.3g} %", 100 * metric->value), more, *metric);
    }
  }
  return text;
}

std::string profile_tiles(const Profile& profile) {
  const Metrics& m = profile.time->metrics;
  std::string text = html_tile("One step, exact", value_text(m.value("step_exact_ms"), "ms"),
                               fmt::format("forward and backward; the optimizer {}",
                                           value_text(m.value("optimizer_ms"), "ms")),
                               *m.find("step_exact_ms"));
  if (const Metric* speedup = m.find("step_speedup"))
    text += speed_tile("With the plan", *speedup, nullptr);
  text +=
      html_tile("What a plan can change", fmt::format("{:.0f} %", 100 * m.value("eligible_share")),
                fmt::format("of the step; were it free, {:.2f} × as fast (modelled)",
                            m.value("amdahl_limit")),
                *m.find("eligible_share"));
  if (!profile.memory) return text;
  const MemoryProfile& exact = profile.memory->exact;
  const std::string plan =
      profile.memory->plan
          ? fmt::format("; {} with the plan",
                        bytes_text(static_cast<double>(profile.memory->plan->peak_bytes)))
          : "";
  Metrics peak;
  peak.set("peak_bytes_exact", static_cast<double>(exact.peak_bytes), Origin::measured);
  return text + html_tile("Peak of the step", bytes_text(static_cast<double>(exact.peak_bytes)),
                          "above parameters and optimizer states" + plan,
                          *peak.find("peak_bytes_exact"));
}

}  // namespace

std::string html_tiles(const Report& report) {
  std::string tiles;
  if (report.verification) tiles = verified_tiles(report.verification->total);
  if (tiles.empty() && report.profile && report.profile->time)
    tiles = profile_tiles(*report.profile);
  if (tiles.empty() && report.plan) tiles = predicted_tiles(report.plan->predicted);
  return tiles.empty() ? "" : fmt::format("<dl class=\"tiles\">\n{}</dl>\n", tiles);
}

}  // namespace hot::reports
