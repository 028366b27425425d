#include "analyzers/profile/memory_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hot::profile {
namespace {

constexpr std::size_t kMoments = 400;
constexpr std::size_t kPieces = 40;

/// What a piece is while the graph doesn't hold it.
MemoryUse own_use(const Allocation& a) {
  if (a.gradient) return MemoryUse::gradient;
  if (a.died > 0 && a.here.serial != 0 && a.died_in == a.here.serial) return MemoryUse::workspace;
  switch (a.here.phase) {
    case Phase::forward:
      return a.in_model || a.here.serial != 0 ? MemoryUse::activation : MemoryUse::input;
    case Phase::backward:
      return MemoryUse::activation_gradient;
    case Phase::optimizer:
      return MemoryUse::workspace;
  }
  return MemoryUse::workspace;
}

MemoryUse use_at(const Allocation& a, std::size_t event) {
  const bool held = std::any_of(a.held.begin(), a.held.end(), [&](const HeldForBackward& h) {
    return h.from <= event && (h.to == 0 || event < h.to);
  });
  return held ? MemoryUse::saved : own_use(a);
}

/// A change of what is live, in order of `event`.
struct Change {
  std::size_t event;
  MemoryUse use;
  std::int64_t bytes;
};

std::vector<Change> changes_of(const std::vector<Allocation>& allocations) {
  std::vector<Change> changes;
  for (const Allocation& a : allocations) {
    const MemoryUse own = own_use(a);
    changes.push_back({a.born, own, a.bytes});
    for (const HeldForBackward& h : a.held) {
      changes.push_back({h.from, own, -a.bytes});
      changes.push_back({h.from, MemoryUse::saved, a.bytes});
      if (h.to == 0) continue;
      changes.push_back({h.to, MemoryUse::saved, -a.bytes});
      changes.push_back({h.to, own, a.bytes});
    }
    if (a.died == 0) continue;
    const bool held_to_the_end = !a.held.empty() && a.held.back().to == 0;
    changes.push_back({a.died, held_to_the_end ? MemoryUse::saved : own, -a.bytes});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.event < b.event; });
  return changes;
}

std::int64_t total(const BytesByUse& bytes) {
  std::int64_t sum = 0;
  for (const std::int64_t b : bytes) sum += b;
  return sum;
}

/// The highest moment of each of at most kMoments stretches of events.
std::vector<MemoryMoment> timeline_of(const MemoryLog& log) {
  const auto changes = changes_of(log.allocations());
  const auto& events = log.events();
  const std::size_t stretch = std::max<std::size_t>(1, (events.size() + kMoments - 1) / kMoments);
  std::vector<MemoryMoment> timeline;
  BytesByUse live{};
  std::size_t next = 0;
  std::int64_t highest = -1;
  MemoryMoment best;
  for (std::size_t e = 0; e < events.size(); ++e) {
    for (; next < changes.size() && changes[next].event <= e; ++next)
      live[static_cast<std::size_t>(changes[next].use)] += changes[next].bytes;
    if (total(live) > highest) {
      highest = total(live);
      best = {events[e].seconds, live};
    }
    if ((e + 1) % stretch != 0 && e + 1 < events.size()) continue;
    timeline.push_back(best);
    highest = -1;
  }
  return timeline;
}

/// Number of the event at which the sum is highest for the first time.
std::size_t peak_event(const std::vector<MemoryEvent>& events) {
  std::int64_t sum = 0;
  std::int64_t highest = 0;
  std::size_t peak = 0;
  for (std::size_t e = 0; e < events.size(); ++e) {
    sum += events[e].bytes;
    if (sum <= highest) continue;
    highest = sum;
    peak = e;
  }
  return peak;
}

std::string op_text(const Here& here) {
  if (!here.op.empty()) return here.op;
  return here.phase == Phase::forward ? "inputs and buffers" : "between operations";
}

PeakPiece piece_of(const Allocation& a, MemoryUse use) {
  PeakPiece piece;
  piece.use = use;
  piece.bytes = a.bytes;
  const bool saved = use == MemoryUse::saved;
  piece.layer = saved ? a.owner : a.here.owner;
  piece.what = saved && !a.tensor.empty() ? a.tensor : op_text(a.here);
  if (saved) piece.shared_with.assign(a.more_owners.begin(), a.more_owners.end());
  return piece;
}

std::vector<SavedByLayer> by_layer(const std::vector<SavedStorage>& saved) {
  std::map<std::string, SavedByLayer> layers;
  for (const SavedStorage& s : saved) {
    auto& layer = layers[s.owner];
    layer.layer = s.owner;
    layer.bytes += s.bytes;
    ++layer.tensors;
    layer.kept_bytes += s.bytes;
    if (s.more_owners.empty()) continue;
    layer.shared_bytes += s.bytes;
    for (const std::string& more : s.more_owners) {
      layers[more].layer = more;
      layers[more].kept_bytes += s.bytes;
    }
  }
  std::vector<SavedByLayer> result;
  for (auto& [name, layer] : layers) result.push_back(std::move(layer));
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return result;
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.4g} MB", static_cast<double>(bytes) / 1e6);
}

std::string place_text(const StepPlace& place) {
  return fmt::format("{} ({}{}{})", place.op, place.phase, place.layer.empty() ? "" : " of ",
                     place.layer);
}

/// "512 MB saved activation, 300 MB gradient", the largest three.
std::string made_of(const BytesByUse& bytes) {
  std::vector<std::size_t> order(kMemoryUses);
  for (std::size_t i = 0; i < kMemoryUses; ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
  std::string text;
  for (std::size_t i = 0; i < 3 && bytes[order[i]] > 0; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", megabytes(bytes[order[i]]),
                        to_string(static_cast<MemoryUse>(order[i])));
  return text;
}

}  // namespace

MemoryProfile summarise(const MemoryLog& log, const std::vector<SavedStorage>& saved) {
  MemoryProfile profile;
  for (const SavedStorage& s : saved) profile.saved_bytes += s.bytes;
  profile.saved = by_layer(saved);
  profile.peak_bytes = log.peak_bytes();
  profile.allocator_peak_bytes = log.allocator_peak_bytes();
  profile.events = static_cast<std::int64_t>(log.events().size()) - 1;
  profile.timeline = timeline_of(log);

  const std::size_t peak = peak_event(log.events());
  for (const Allocation& a : log.allocations()) {
    if (a.born > peak || (a.died > 0 && a.died <= peak)) continue;
    const MemoryUse use = use_at(a, peak);
    profile.at_peak[static_cast<std::size_t>(use)] += a.bytes;
    profile.pieces.push_back(piece_of(a, use));
    if (a.born == peak)
      profile.peak_place = {to_string(a.here.phase), a.here.owner, op_text(a.here)};
  }
  std::stable_sort(profile.pieces.begin(), profile.pieces.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (profile.pieces.size() > kPieces) profile.pieces.resize(kPieces);
  return profile;
}

std::string explain_peaks(const MemoryProfile& exact, const MemoryProfile& plan) {
  const std::int64_t saved = exact.saved_bytes - plan.saved_bytes;
  const std::int64_t peak = exact.peak_bytes - plan.peak_bytes;
  std::string text = fmt::format(
      "Saved bytes {} by {}, the peak {} by {}. The exact peak is in {}: {}. The plan's is in {}: "
      "{}.",
      saved >= 0 ? "fall" : "rise", megabytes(std::abs(saved)), peak >= 0 ? "falls" : "rises",
      megabytes(std::abs(peak)), place_text(exact.peak_place), made_of(exact.at_peak),
      place_text(plan.peak_place), made_of(plan.at_peak));
  if (saved <= 0 || peak >= saved || plan.pieces.empty()) return text;
  std::vector<std::size_t> grown;
  for (std::size_t i = 0; i < kMemoryUses; ++i) {
    if (plan.at_peak[i] > exact.at_peak[i]) grown.push_back(i);
  }
  if (grown.empty()) return text;
  std::sort(grown.begin(), grown.end(), [&](std::size_t a, std::size_t b) {
    return plan.at_peak[a] - exact.at_peak[a] > plan.at_peak[b] - exact.at_peak[b];
  });
  const auto use = static_cast<MemoryUse>(grown.front());
  text += fmt::format(" Of the rest, {} of {} more than at the exact peak take the largest part",
                      megabytes(plan.at_peak[grown.front()] - exact.at_peak[grown.front()]),
                      to_string(use));
  const auto piece = std::find_if(plan.pieces.begin(), plan.pieces.end(),
                                  [&](const auto& p) { return p.use == use; });
  if (piece != plan.pieces.end())
    text += fmt::format("; the largest is {} in {}{}{}", megabytes(piece->bytes), piece->what,
                        piece->layer.empty() ? "" : " of ", piece->layer);
  return text + ".";
}

}  // namespace hot::profile
