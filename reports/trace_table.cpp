#include <fmt/format.h>

#include <stdexcept>

#include "reports/sections.hpp"
#include "reports/table.hpp"
#include "reports/terminal.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

/// Three rows, one a product; the first column tells about the layer itself.
void add_layer(Table& table, const LayerTrace& layer) {
  const std::string weight = shape_text(layer.weight_shape);
  const std::vector<std::string> about = {
      layer.name,
      fmt::format("  {}{}{}, {} call{}", to_string(layer.kind), weight.empty() ? "" : " ", weight,
                  layer.calls, layer.calls == 1 ? "" : "s"),
      fmt::format("  saves {}{}", bytes_text(static_cast<double>(layer.saved_activation_bytes)),
                  layer.eligible ? "" : ", not eligible")};
  for (const Path path : {Path::forward, Path::grad_input, Path::grad_weight}) {
    const PathWork& work = layer.path(path);
    table.row({about[static_cast<std::size_t>(path)], to_string(path), product_text(work),
               fmt::format("{}", work.calls),
               work.flops == 0 ? "-" : flops_text(static_cast<double>(work.flops))});
  }
  if (!layer.reason.empty()) table.remark("not eligible: " + layer.reason);
  for (const std::string& note : layer.notes) table.remark(note);
  if (!layer.aliases.empty()) {
    table.remark(fmt::format("also called {}", fmt::join(layer.aliases, ", ")));
  }
}

std::string totals(const Trace& trace) {
  return fmt::format(
      "forward {}, backward {}; {} saved for backward, peak {}; loss {:.6g}; one plain training "
      "step {:.3g} s (measured).",
      flops_text(static_cast<double>(trace.forward_flops)),
      flops_text(static_cast<double>(trace.backward_flops)),
      bytes_text(static_cast<double>(trace.saved_bytes)),
      bytes_text(static_cast<double>(trace.peak_bytes)), trace.loss, trace.step_seconds);
}

}  // namespace

std::string write_trace_table(const Report& report, const Style& given) {
  if (!report.trace) throw std::logic_error("the report has no trace");
  Style style = given;
  style.width = std::max(style.width, kMinWidth);
  Table table({{"layer", Table::Align::left, true},
               {"product"},
               {"m x n x k", Table::Align::right},
               {"calls", Table::Align::right},
               {"work", Table::Align::right}});
  for (const LayerTrace& layer : report.trace->layers) add_layer(table, layer);
  std::string text = environment_section(report, style) + '\n';
  if (!table.empty()) text += table.text(style) + '\n';
  if (const std::string metrics = metrics_section(report, style); !metrics.empty())
    text += metrics + '\n';
  text += paragraph("", totals(*report.trace), style.width);
  for (const auto* notes : {&report.model.notes, &report.trace->notes}) {
    for (const std::string& note : *notes) text += paragraph("- ", note, style.width);
  }
  return text;
}

}  // namespace hot::reports
