#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/profile_table.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kPieces = 8;
constexpr std::size_t kSaved = 12;

std::string of(std::int64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}

void add_use(Table& table, const MemoryComparison& memory, MemoryUse use) {
  const auto i = static_cast<std::size_t>(use);
  const std::int64_t exact = memory.exact.at_peak[i];
  const std::int64_t plan = memory.plan ? memory.plan->at_peak[i] : 0;
  if (exact == 0 && plan == 0) return;
  table.row({fmt::format("  {}", to_string(use)), of(exact), memory.plan ? of(plan) : ""});
}

/// What lives through the step, the peak above it by use, and what is kept for backward.
std::string peak_table(const MemoryComparison& memory, const Style& style) {
  Table table({{"memory of a step"},
               {"exact", Table::Align::right},
               {memory.plan ? "plan" : "", Table::Align::right}});
  const auto fixed = [&](const std::string& name, std::int64_t bytes) {
    table.row({name, of(bytes), memory.plan ? of(bytes) : ""});
  };
  fixed("parameters", memory.parameter_bytes);
  if (memory.buffer_bytes > 0) fixed("buffers", memory.buffer_bytes);
  if (memory.optimizer_bytes > 0)
    fixed(fmt::format("optimizer states ({})", memory.optimizer), memory.optimizer_bytes);
  table.row({"peak above these", of(memory.exact.peak_bytes),
             memory.plan ? of(memory.plan->peak_bytes) : ""});
  for (std::size_t i = 0; i < kMemoryUses; ++i) add_use(table, memory, static_cast<MemoryUse>(i));
  const std::int64_t lives = memory.parameter_bytes + memory.buffer_bytes + memory.optimizer_bytes;
  table.row({"all of the step", of(lives + memory.exact.peak_bytes),
             memory.plan ? of(lives + memory.plan->peak_bytes) : ""});
  table.row({"saved for backward", of(memory.exact.saved_bytes),
             memory.plan ? of(memory.plan->saved_bytes) : ""});
  if (memory.plan)
    table.row(
        {"  by eligible layers", of(memory.eligible_kept_exact), of(memory.eligible_kept_plan)});
  return table.text(style);
}

std::string place(const StepPlace& place) {
  return fmt::format("{}, {}{}", place.phase, place.op,
                     place.layer.empty() ? "" : " of " + place.layer);
}

std::string pieces_table(const MemoryProfile& profile, const std::string& title,
                         const Style& style) {
  Table table({{title, Table::Align::left, true},
               {"bytes", Table::Align::right},
               {"use"},
               {"what", Table::Align::left, true, true}});
  for (std::size_t i = 0; i < std::min(profile.pieces.size(), kPieces); ++i) {
    const PeakPiece& piece = profile.pieces[i];
    std::string what = piece.what;
    if (!piece.shared_with.empty())
      what += fmt::format("; shared with {}", fmt::join(piece.shared_with, ", "));
    table.row({piece.layer.empty() ? "-" : piece.layer, of(piece.bytes),
               std::string(to_string(piece.use)), what});
  }
  return table.empty() ? "" : table.text(style);
}

std::int64_t saved_of(const MemoryProfile& profile, const std::string& layer) {
  for (const SavedByLayer& s : profile.saved) {
    if (s.layer == layer) return s.bytes;
  }
  return 0;
}

std::string saved_table(const MemoryComparison& memory, const Style& style) {
  Table table({{"saved for backward by", Table::Align::left, true},
               {"exact", Table::Align::right},
               {"shared", Table::Align::right},
               {"tensors", Table::Align::right},
               {memory.plan ? "plan" : "", Table::Align::right}});
  const auto& saved = memory.exact.saved;
  for (std::size_t i = 0; i < std::min(saved.size(), kSaved); ++i) {
    table.row({saved[i].layer.empty() ? "(outside modules)" : saved[i].layer, of(saved[i].bytes),
               saved[i].shared_bytes > 0 ? of(saved[i].shared_bytes) : "",
               fmt::format("{}", saved[i].tensors),
               memory.plan ? of(saved_of(*memory.plan, saved[i].layer)) : ""});
  }
  if (saved.size() > kSaved) {
    std::int64_t exact = 0;
    std::int64_t plan = memory.plan ? memory.plan->saved_bytes : 0;
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (i >= kSaved)
        exact += saved[i].bytes;
      else if (memory.plan)
        plan -= saved_of(*memory.plan, saved[i].layer);
    }
    table.row({fmt::format("{} more", saved.size() - kSaved), of(exact), "", "",
               memory.plan ? of(plan) : ""});
  }
  return table.empty() ? "" : table.text(style);
}

}  // namespace

std::string memory_section(const Report& report, const Style& style) {
  if (!report.profile || !report.profile->memory) return "";
  const MemoryComparison& memory = *report.profile->memory;
  std::string text = emphasised("memory", style) + '\n' + peak_table(memory, style);
  text += paragraph("",
                    fmt::format("The exact peak is in {} (measured from the allocator's {} "
                                "reports).",
                                place(memory.exact.peak_place), memory.exact.events),
                    style.width);
  if (memory.exact.peak_bytes != memory.exact.allocator_peak_bytes) {
    text += paragraph("",
                      fmt::format("The allocator's own count says {}: memory was freed where "
                                  "no report was seen.",
                                  of(memory.exact.allocator_peak_bytes)),
                      style.width);
  }
  if (!memory.explanation.empty()) text += paragraph("", memory.explanation, style.width);
  text += '\n' + saved_table(memory, style);
  text += '\n' + pieces_table(memory.exact, "at the exact peak", style);
  if (memory.plan) text += '\n' + pieces_table(*memory.plan, "at the plan's peak", style);
  return text;
}

}  // namespace hot::reports
