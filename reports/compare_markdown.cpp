#include <fmt/format.h>

#include "reports/compare_formats.hpp"
#include "reports/compare_text.hpp"
#include "reports/markdown.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kShown = 100;

const char* mark_of(const std::string& word) {
  if (word == "better" || word == "same") return "✅";
  return word == "worse" ? "❌" : "⚠️";
}

std::string head(const Comparison& c, const std::vector<Check>& checks) {
  const std::string word = overall(c);
  std::string text = fmt::format("### {} hot-analyze compare: {}\n\n", mark_of(word), word);
  text +=
      fmt::format("A: {} ({})  \nB: {} ({})  \n", markdown_code(c.name_a),
                  markdown_text(c.verdict_a), markdown_code(c.name_b), markdown_text(c.verdict_b));
  if (!c.whole.empty()) {
    text += fmt::format(
        "Of {} numbers of the whole model {} are better, {} worse, {} unclear, {} the same; {}.\n",
        c.whole.size(), c.count(Change::better), c.count(Change::worse), c.count(Change::unclear),
        c.count(Change::same), picks_text(c));
  }
  if (!checks.empty()) text += '\n';
  for (const Check& check : checks) {
    text += fmt::format("- {} {}: {}\n", check.failed ? "❌ failed" : "✅ passed",
                        markdown_code(check.condition), markdown_text(check.reason));
  }
  return text;
}

std::string whole(const Comparison& c) {
  if (c.whole.empty()) return "";
  std::string text =
      "\n| whole model | A | B | change | 95 % | origin | outcome |\n"
      "|---|---:|---:|---:|---:|---|---|\n";
  for (const Difference& d : c.whole) {
    const bool changed = d.change == Change::better || d.change == Change::worse;
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} | {} | {} | {} | {}{}{} |\n",
                   spaced(d.info().name), value_text(d.a.value, d.info().unit),
                   value_text(d.b.value, d.info().unit), percent_text(d), noise_text(d),
                   to_string(d.b.origin), changed ? "**" : "", to_string(d.change),
                   changed ? "**" : "");
  }
  return text;
}

std::string more(std::size_t all) {
  return all > kShown ? fmt::format("\n{} more stand in the JSON output.\n", all - kShown) : "";
}

std::string picks(const Comparison& c) {
  if (c.picks.empty()) return "";
  std::string text = fmt::format(
      "\n<details><summary>Changed picks ({})</summary>\n\n| layer | gradient | A | B | error of A "
      "| error of B | outcome |\n|---|---|---|---|---:|---:|---|\n",
      c.picks.size());
  for (std::size_t i = 0; i < std::min(kShown, c.picks.size()); ++i) {
    const PickChange& pick = c.picks[i];
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} | {} | {} | {} | {} |\n",
                   markdown_code(pick.layer), pick.path == Path::grad_input ? "input" : "weight",
                   markdown_code(pick.a), markdown_code(pick.b),
                   pick.error ? value_text(pick.error->a.value, "") : "",
                   pick.error ? value_text(pick.error->b.value, "") : "",
                   pick.error ? to_string(pick.error->change) : "");
  }
  return text + more(c.picks.size()) + "</details>\n";
}

std::string layers(const Comparison& c) {
  const auto changed = changed_layers(c);
  if (c.layers.empty()) return "";
  std::string text =
      fmt::format("\n<details><summary>{} numbers of single layers: {}</summary>\n\n",
                  c.layers.size(), layer_counts(c));
  if (!changed.empty()) {
    text +=
        "| layer | of | number | A | B | change | outcome |\n|---|---|---|---:|---:|---:|---|\n";
  }
  for (std::size_t i = 0; i < std::min(kShown, changed.size()); ++i) {
    const Difference& d = changed[i]->difference;
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} | {} | {} | {} | {} |\n",
                   markdown_code(changed[i]->layer), markdown_text(changed[i]->path),
                   spaced(d.info().name), value_text(d.a.value, d.info().unit),
                   value_text(d.b.value, d.info().unit), percent_text(d), to_string(d.change));
  }
  return text + more(changed.size()) + "</details>\n";
}

std::string notes(const Comparison& c) {
  if (c.notes.empty()) return "";
  std::string text = "\n<details><summary>What else differs</summary>\n\n";
  for (const std::string& note : c.notes) text += fmt::format("- {}\n", markdown_text(note));
  return text + "</details>\n";
}

}  // namespace

std::string write_comparison_markdown(const Comparison& comparison,
                                      const std::vector<Check>& checks, const Style&) {
  return head(comparison, checks) + whole(comparison) + picks(comparison) + layers(comparison) +
         notes(comparison);
}

}  // namespace hot::reports
