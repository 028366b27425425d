#include <fmt/format.h>

#include <algorithm>

#include "reports/profile_parts.hpp"
#include "reports/profile_table.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kLayers = 30;
constexpr std::size_t kOps = 6;

const LayerTimes* same_layer(const std::optional<TimeProfile>& plan, const std::string& name) {
  if (!plan) return nullptr;
  for (const LayerTimes& layer : plan->layers) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

/// Times of the parts of a layer; with the plan's in the lines below where they were measured.
void add_layer(Table& table, const LayerTimes& layer, const LayerTimes* plan, double whole,
               const Metrics& metrics) {
  const Roofline line = roofline(layer, metrics);
  table.row({layer.name, ms_text(layer.seconds[0]), ms_text(layer.seconds[1]),
             ms_text(layer.seconds[2]), percent_text(layer.total() / whole),
             line.ceiling > 0 ? fmt::format("{:.4g}", line.flops_per_second / 1e9) : "-",
             line.ceiling > 0 ? fmt::format("{:.3g}", line.bytes_per_second / 1e9) : "-",
             line.ceiling > 0
                 ? fmt::format("{:.0f} %{}", line.share() * 100, line.memory_bound ? " m" : " a")
                 : "-"});
  if (plan == nullptr) return;
  table.row({"  with the plan", ms_text(plan->seconds[0]), ms_text(plan->seconds[1]),
             ms_text(plan->seconds[2]), percent_text(plan->total() / whole), "", "", ""});
}

std::string layer_table(const TimeComparison& time, const Style& style) {
  const double whole = time.metrics.value("step_exact_ms") / 1e3;
  Table table({{"layer (ms)", Table::Align::left, true},
               {"forward", Table::Align::right},
               {"grad_input", Table::Align::right},
               {"grad_weight", Table::Align::right},
               {"of step", Table::Align::right},
               {"GFLOP/s", Table::Align::right},
               {"GB/s", Table::Align::right},
               {"roofline", Table::Align::right}});
  const auto layers = longest_layers(time.exact);
  for (std::size_t i = 0; i < std::min(layers.size(), kLayers); ++i) {
    const LayerTimes* plan = same_layer(time.plan, layers[i]->name);
    add_layer(table, *layers[i], layers[i]->eligible ? plan : nullptr, whole, time.metrics);
  }
  if (layers.size() > kLayers) {
    LayerTimes rest;
    rest.name = fmt::format("{} more layers", layers.size() - kLayers);
    for (std::size_t i = kLayers; i < layers.size(); ++i) {
      for (std::size_t p = 0; p < 3; ++p) {
        rest.seconds[p] += layers[i]->seconds[p];
        rest.flops[p] += layers[i]->flops[p];
        rest.bytes[p] += layers[i]->bytes[p];
      }
      rest.rest += layers[i]->rest;
    }
    add_layer(table, rest, nullptr, whole, time.metrics);
  }
  return table.empty() ? "" : table.text(style);
}

std::string ops_text(const std::vector<OpTimes>& ops) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ops.size(), kOps); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", ops[i].name, ms_text(ops[i].seconds));
  if (ops.size() > kOps) text += fmt::format(", {} more", ops.size() - kOps);
  return text;
}

double sum(const std::vector<OpTimes>& ops) {
  double seconds = 0;
  for (const OpTimes& op : ops) seconds += op.seconds;
  return seconds;
}

void add_whole(Table& table, const std::string& name, double exact, double whole,
               std::optional<double> plan, const std::string& what) {
  table.row({name, ms_text(exact), percent_text(exact / whole), plan ? ms_text(*plan) : "", what});
}

/// " (95 % ±0.5 %, 12 pairs of steps)", or nothing.
std::string interval(const Metrics& metrics) {
  const Metric& share = *metrics.find("watching_cost");
  if (!share.ci95) return "";
  return fmt::format(" (95 % ±{}, {:.0f} pairs of steps)", percent_text(*share.ci95),
                     metrics.value("watching_pairs"));
}

std::string whole_table(const TimeComparison& time, const Style& style) {
  Table table({{"whole step (ms)"},
               {"exact", Table::Align::right},
               {"of step", Table::Align::right},
               {time.plan ? "plan" : "", Table::Align::right},
               {"longest", Table::Align::left, true, true}});
  const TimeProfile& exact = time.exact;
  const auto& plan = time.plan;
  const double whole = time.metrics.value("step_exact_ms") / 1e3;
  const auto path = [](const TimeProfile& t, std::size_t p) {
    double seconds = 0;
    for (const LayerTimes& layer : t.layers) seconds += p < 3 ? layer.seconds[p] : layer.rest;
    return seconds;
  };
  const auto of_plan = [&](auto&& part) {
    return plan ? std::optional(part(*plan)) : std::nullopt;
  };
  constexpr std::array<const char*, 4> names = {"layers: forward", "layers: grad_input",
                                                "layers: grad_weight", "layers: rest"};
  for (std::size_t p = 0; p < names.size(); ++p)
    add_whole(table, names[p], path(exact, p), whole,
              of_plan([&](const auto& t) { return path(t, p); }), "");
  add_whole(table, "outside layers: forward", sum(exact.forward_ops), whole,
            of_plan([](const auto& t) { return sum(t.forward_ops); }), ops_text(exact.forward_ops));
  add_whole(table, "outside layers: backward", sum(exact.backward_ops), whole,
            of_plan([](const auto& t) { return sum(t.backward_ops); }),
            ops_text(exact.backward_ops));
  add_whole(table, "outside layers: between", exact.between, whole,
            of_plan([](const auto& t) { return t.between; }), "interpreter and autograd engine");
  const Metric* plan_ms = time.metrics.find("step_plan_ms");
  add_whole(table, "step", whole, whole,
            plan_ms == nullptr ? std::nullopt : std::optional(plan_ms->value / 1e3), "");
  add_whole(table, "optimizer, after the step", exact.optimizer, whole,
            of_plan([](const auto& t) { return t.optimizer; }), "");
  return table.text(style);
}

}  // namespace

std::string time_section(const Report& report, const Style& style) {
  if (!report.profile || !report.profile->time) return "";
  const TimeComparison& time = *report.profile->time;
  const Metrics& m = time.metrics;
  const Metric& step = *m.find("step_exact_ms");
  std::string text =
      emphasised("time", style) + '\n' + layer_table(time, style) + '\n' + whole_table(time, style);
  text += paragraph(
      "",
      fmt::format(
          "All measured: step {} ms{}, {:.0f} rounds; watching adds {}{}, {:.3g} us for each "
          "operation, which the parts are freed of. Ceilings of this machine: {} GFLOP/s (float32 "
          "product), {} GB/s (copy). roofline: share of what the "
          "layer's FLOP per byte allow; a: bound by arithmetic, m: by memory.",
          ms_text(step.value / 1e3),
          step.ci95 ? fmt::format(" (95 % ±{})", ms_text(*step.ci95 / 1e3)) : "",
          m.value("repeats"), percent_text(m.value("watching_cost")), interval(m),
          m.value("hook_us"), fmt::format("{:.4g}", m.value("gemm_flops_per_second") / 1e9),
          fmt::format("{:.3g}", m.value("copy_bytes_per_second") / 1e9)),
      style.width);
  for (const std::string& note : time.notes) text += paragraph("", note, style.width);
  std::string amdahl = fmt::format(
      "Eligible backward products are {} of the step: were they free, it would run {:.3g} times as "
      "fast (modelled)",
      percent_text(m.value("eligible_share")), m.value("amdahl_limit"));
  if (const Metric* speedup = m.find("step_speedup"); speedup != nullptr)
    amdahl +=
        fmt::format("; with the plan it runs {:.3g} times as fast (measured{})", speedup->value,
                    speedup->ci95 ? fmt::format(", 95 % ±{:.2g}", *speedup->ci95) : "");
  if (const Metric* products = m.find("amdahl_plan"); products != nullptr)
    amdahl +=
        fmt::format(", of which the products alone would give {:.3g} (modelled)", products->value);
  return text + paragraph("", amdahl + ".", style.width);
}

}  // namespace hot::reports
