#include "reports/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/json_gpu.hpp"
#include "reports/scheme_findings.hpp"
#include "reports/sections.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

/// Sentences in order of first appearance, each with the layers that it is about.
class Groups {
 public:
  void add(const std::string& sentence, const std::string& layer) {
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const auto& g) { return g.first == sentence; });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {sentence, {}});
    group->second.push_back(layer);
  }

  /// "sentence (3 layers: a, b, c)", the first few names in full.
  [[nodiscard]] std::vector<std::string> sentences() const {
    constexpr std::size_t kNamed = 4;
    std::vector<std::string> result;
    for (const auto& [sentence, layers] : groups_) {
      const std::vector<std::string> named(
          layers.begin(),
          layers.begin() + static_cast<std::ptrdiff_t>(std::min(layers.size(), kNamed)));
      const std::string more =
          layers.size() > kNamed ? fmt::format(" and {} more", layers.size() - kNamed) : "";
      result.push_back(
          fmt::format("{} ({}{}{})", sentence,
                      layers.size() > 1 ? fmt::format("{} layers: ", layers.size()) : "",
                      fmt::join(named, ", "), more));
    }
    return result;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
};

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<std::string> of_layers(const Trace& trace) {
  Groups notes;
  Groups reasons;
  for (const LayerTrace& layer : trace.layers) {
    for (const std::string& note : layer.notes) notes.add(note, layer.name);
    if (!layer.eligible) reasons.add("Not eligible: " + layer.reason, layer.name);
  }
  std::vector<std::string> all = notes.sentences();
  append(all, reasons.sentences());
  return all;
}

}  // namespace

std::vector<std::string> findings(const Report& report) {
  std::vector<std::string> all = report.model.notes;
  if (report.trace) {
    append(all, report.trace->notes);
    append(all, of_layers(*report.trace));
  }
  for (const SchemeFinding& finding : scheme_findings(report)) all.push_back(finding.text());
  if (report.errors) append(all, report.errors->notes);
  if (report.plan) append(all, report.plan->notes);
  if (report.plan && report.plan->model.sha256 != report.model.sha256) {
    all.emplace_back("The plan was made for another file of a model with the same layers.");
  }
  if (report.verification) append(all, report.verification->notes);
  return all;
}

std::string findings_section(const Report& report, const Style& style) {
  std::string text;
  for (const std::string& sentence : findings(report)) {
    text += paragraph("- ", sentence, style.width);
  }
  return text.empty() ? "" : emphasised("findings", style) + '\n' + text;
}

std::vector<std::pair<std::string, std::string>> environment_facts(const Report& report) {
  const Environment& e = report.environment;
  const ModelInfo& m = report.model;
  std::vector<std::pair<std::string, std::string>> facts = {
      {"model",
       fmt::format("{}, {} parameters", m.path, count_text(static_cast<double>(m.parameters)))},
      {"inputs", m.inputs.empty() ? ""
                                  : fmt::format("{} ({}), {} batch{}", m.inputs, m.inputs_source,
                                                m.batches, m.batches == 1 ? "" : "es")},
      {"loss", m.loss},
      {"seed", fmt::format("{}", m.seed)},
      {"machine", fmt::format("{}, {}, {} threads", e.device, e.cpu, e.threads)},
      {"software",
       fmt::format("hot-analyze {}, torch {}, CUDA {}", e.tool_version, e.torch, e.cuda)},
      {"kernels", fmt::format("{}; integer products: {}", e.kernels, e.integer_gemm)},
      {"run", fmt::format("{:.1f} s, peak memory {} (measured)", report.elapsed_seconds,
                          bytes_text(static_cast<double>(report.peak_memory_bytes)))}};
  if (e.gpu) {
    const auto lines = gpu_lines(*e.gpu);
    facts.insert(facts.end() - 1, lines.begin(), lines.end());
  }
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

std::string environment_section(const Report& report, const Style& style) {
  std::string text = emphasised("environment", style) + '\n';
  for (const auto& [key, value] : environment_facts(report)) {
    text += paragraph(fmt::format("  {:<10}", key), value, style.width);
  }
  return text;
}

}  // namespace hot::reports
