#include <fmt/format.h>

#include "reports/compare_formats.hpp"
#include "reports/compare_text.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kShownLayers = 20;

int colour_of(const std::string& word) {
  if (word == "better" || word == "same") return 32;
  if (word == "worse") return 31;
  return 33;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

std::string head(const Comparison& c, const Style& style) {
  const std::string word = overall(c);
  std::string text = emphasised(upper(word), style, colour_of(word)) + '\n';
  text += paragraph("  A: ", fmt::format("{} ({})", c.name_a, c.verdict_a), style.width);
  text += paragraph("  B: ", fmt::format("{} ({})", c.name_b, c.verdict_b), style.width);
  if (c.whole.empty()) return text;
  return text +
         paragraph("  ",
                   fmt::format("Of {} numbers of the whole model {} are better, {} worse, "
                               "{} unclear, {} the same; {}.",
                               c.whole.size(), c.count(Change::better), c.count(Change::worse),
                               c.count(Change::unclear), c.count(Change::same), picks_text(c)),
                   style.width);
}

std::string checks_text(const std::vector<Check>& checks, const Style& style) {
  std::string text;
  for (const Check& check : checks) {
    text += paragraph("  ",
                      fmt::format("{}: {} ({})", check.failed ? "FAILED" : "passed",
                                  check.condition, check.reason),
                      style.width);
  }
  return text;
}

std::vector<std::string> cells(const Difference& d) {
  return {value_text(d.a.value, d.info().unit),
          value_text(d.b.value, d.info().unit),
          percent_text(d),
          noise_text(d),
          to_string(d.b.origin),
          to_string(d.change)};
}

std::string whole(const Comparison& c, const Style& style) {
  Table table({{"whole model", Table::Align::left, true},
               {"A", Table::Align::right},
               {"B", Table::Align::right},
               {"change", Table::Align::right},
               {"95 %", Table::Align::right},
               {"origin"},
               {"outcome"}});
  for (const Difference& d : c.whole) {
    std::vector<std::string> row = {spaced(d.info().name)};
    for (std::string& cell : cells(d)) row.push_back(std::move(cell));
    table.row(row);
  }
  return table.empty() ? "" : table.text(style);
}

/// Two rows a pick: A's, and B's below.
std::string picks(const Comparison& c, const Style& style) {
  Table table({{"changed pick", Table::Align::left, true},
               {"gradient"},
               {"scheme"},
               {"error", Table::Align::right},
               {"outcome"}});
  for (const PickChange& pick : c.picks) {
    const auto scheme = [](const char* side, const std::string& text) {
      return fmt::format("{} {}", side, text.empty() ? "-" : text);
    };
    table.row({pick.layer, pick.path == Path::grad_input ? "input" : "weight", scheme("A", pick.a),
               pick.error ? value_text(pick.error->a.value, "") : ""});
    table.row({"", "", scheme("B", pick.b), pick.error ? value_text(pick.error->b.value, "") : "",
               pick.error ? to_string(pick.error->change) : ""});
  }
  return table.empty() ? "" : table.text(style);
}

std::string layers(const Comparison& c, const Style& style) {
  if (c.layers.empty()) return "";
  Table table({{"layer", Table::Align::left, true},
               {"of"},
               {"number"},
               {"A", Table::Align::right},
               {"B", Table::Align::right},
               {"change", Table::Align::right},
               {"outcome"}});
  const auto changed = changed_layers(c);
  for (std::size_t i = 0; i < std::min(changed.size(), kShownLayers); ++i) {
    const Difference& d = changed[i]->difference;
    table.row({changed[i]->layer, changed[i]->path, spaced(d.info().name),
               value_text(d.a.value, d.info().unit), value_text(d.b.value, d.info().unit),
               percent_text(d), to_string(d.change)});
  }
  std::string text = table.empty() ? "" : table.text(style);
  const std::string more = changed.size() > kShownLayers
                               ? fmt::format(" The {} largest changes are shown.", kShownLayers)
                               : "";
  return text + paragraph("",
                          fmt::format("{} numbers of single layers: {}.{}", c.layers.size(),
                                      layer_counts(c), more),
                          style.width);
}

std::string notes(const Comparison& c, const Style& style) {
  std::string text;
  for (const std::string& note : c.notes) text += paragraph("- ", note, style.width);
  return text.empty() ? "" : emphasised("what else differs", style) + '\n' + text;
}

}  // namespace

std::string write_comparison(const Comparison& comparison, const std::vector<Check>& checks,
                             const Style& given) {
  Style style = given;
  style.width = std::max(style.width, kMinWidth);
  std::string text = head(comparison, style) + checks_text(checks, style);
  for (const auto section : {whole, picks, layers, notes}) {
    const std::string part = section(comparison, style);
    if (!part.empty()) text += '\n' + part;
  }
  return text;
}

}  // namespace hot::reports
