#include "reports/json_profile.hpp"

#include "reports/profile_parts.hpp"

namespace hot::reports {
namespace {

std::string key(MemoryUse use) {
  std::string text(to_string(use));
  for (char& c : text) c = c == ' ' ? '_' : c;
  return text;
}

Json uses_json(const BytesByUse& bytes) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kMemoryUses; ++i) json[key(static_cast<MemoryUse>(i))] = bytes[i];
  return json;
}

Json piece_json(const PeakPiece& piece) {
  return {{"use", key(piece.use)},
          {"layer", piece.layer},
          {"what", piece.what},
          {"bytes", piece.bytes},
          {"shared_with", piece.shared_with}};
}

Json memory_profile_json(const MemoryProfile& m) {
  Json pieces = Json::array();
  for (const PeakPiece& piece : m.pieces) pieces.push_back(piece_json(piece));
  Json saved = Json::array();
  for (const SavedByLayer& s : m.saved) {
    saved.push_back({{"name", s.layer},
                     {"bytes", s.bytes},
                     {"tensors", s.tensors},
                     {"shared_bytes", s.shared_bytes},
                     {"kept_bytes", s.kept_bytes}});
  }
  Json timeline = Json::array();
  for (const MemoryMoment& moment : m.timeline) {
    Json row = Json::array({moment.seconds});
    for (const std::int64_t bytes : moment.live) row.push_back(bytes);
    timeline.push_back(std::move(row));
  }
  return {{"saved_bytes", m.saved_bytes},
          {"peak_bytes", m.peak_bytes},
          {"allocator_peak_bytes", m.allocator_peak_bytes},
          {"events", m.events},
          {"peak_place",
           {{"phase", m.peak_place.phase}, {"layer", m.peak_place.layer}, {"op", m.peak_place.op}}},
          {"at_peak", uses_json(m.at_peak)},
          {"pieces", std::move(pieces)},
          {"saved", std::move(saved)},
          {"timeline", std::move(timeline)}};
}

Json memory_json(const MemoryComparison& m) {
  Json json = {{"origin", "measured"},
               {"parameter_bytes", m.parameter_bytes},
               {"buffer_bytes", m.buffer_bytes},
               {"optimizer", m.optimizer},
               {"optimizer_bytes", m.optimizer_bytes},
               {"exact", memory_profile_json(m.exact)}};
  if (m.plan) {
    json["plan"] = memory_profile_json(*m.plan);
    json["explanation"] = m.explanation;
    json["eligible_kept_exact"] = m.eligible_kept_exact;
    json["eligible_kept_plan"] = m.eligible_kept_plan;
  }
  return json;
}

Json ops_json(const std::vector<OpTimes>& ops) {
  Json json = Json::array();
  for (const OpTimes& op : ops) {
    json.push_back(
        {{"name", op.name}, {"seconds", op.seconds}, {"calls", op.calls}, {"bytes", op.bytes}});
  }
  return json;
}

Json layer_json(const LayerTimes& layer, const Metrics* metrics) {
  Json json = {{"name", layer.name},
               {"eligible", layer.eligible},
               {"seconds",
                {{"forward", layer.seconds[0]},
                 {"grad_input", layer.seconds[1]},
                 {"grad_weight", layer.seconds[2]},
                 {"rest", layer.rest}}},
               {"flops", layer.flops},
               {"bytes", layer.bytes}};
  if (metrics == nullptr) return json;
  const Roofline line = roofline(layer, *metrics);
  json["roofline"] = {{"flops_per_second", line.flops_per_second},
                      {"bytes_per_second", line.bytes_per_second},
                      {"flops_per_byte", line.intensity},
                      {"ceiling", line.ceiling},
                      {"bound", line.memory_bound ? "memory" : "arithmetic"}};
  return json;
}

/// `metrics`: for the roofline of the exact step.
Json time_profile_json(const TimeProfile& time, const Metrics* metrics) {
  Json layers = Json::array();
  for (const LayerTimes& layer : time.layers) layers.push_back(layer_json(layer, metrics));
  return {{"layers", std::move(layers)},
          {"forward_ops", ops_json(time.forward_ops)},
          {"backward_ops", ops_json(time.backward_ops)},
          {"between_seconds", time.between},
          {"optimizer_seconds", time.optimizer}};
}

Json fit_json(const std::optional<LineFit>& fit) {
  if (!fit) return nullptr;
  return {{"constant", fit->constant}, {"slope", fit->slope}, {"error", fit->error}};
}

Json batches_json(const BatchSweep& sweep) {
  Json points = Json::array();
  for (const BatchPoint& p : sweep.points) {
    points.push_back({{"batch", p.batch},
                      {"step_ms", p.step_ms},
                      {"peak_bytes", p.peak_bytes},
                      {"plan_peak_bytes", p.plan_peak_bytes},
                      {"failure", p.failure}});
  }
  Json json = {{"points", std::move(points)},
               {"fit_origin", "modelled"},
               {"step_ms", fit_json(sweep.time)},
               {"peak_bytes", fit_json(sweep.exact)},
               {"plan_peak_bytes", fit_json(sweep.plan)}};
  if (sweep.budget_bytes == 0) return json;
  const auto budget = static_cast<double>(sweep.budget_bytes);
  json["budget_bytes"] = sweep.budget_bytes;
  if (sweep.exact) json["largest_batch"] = sweep.exact->largest(budget);
  if (sweep.plan) json["largest_batch_plan"] = sweep.plan->largest(budget);
  return json;
}

Json target_json(const TargetModel& target) {
  Json json = {{"origin", "modelled"},
               {"name", target.rates.name},
               {"source", target.rates.source},
               {"exact_ms", target.exact_ms},
               {"error_here", target.here_error},
               {"bytes", target.bytes},
               {"memory_bytes", target.rates.memory_bytes},
               {"fits", target.fits}};
  if (target.plan_ms > 0) json["plan_ms"] = target.plan_ms;
  return json;
}

}  // namespace

Json profile_json(const Profile& profile, JsonNumbers& numbers) {
  Json json = Json::object();
  if (profile.time) {
    json["time"] = {{"origin", "measured"},
                    {"metrics", numbers.metrics(profile.time->metrics, "profile")},
                    {"notes", profile.time->notes},
                    {"exact", time_profile_json(profile.time->exact, &profile.time->metrics)}};
    if (profile.time->plan) json["time"]["plan"] = time_profile_json(*profile.time->plan, nullptr);
  }
  if (profile.memory) json["memory"] = memory_json(*profile.memory);
  if (profile.batches) json["batches"] = batches_json(*profile.batches);
  if (profile.target) json["target"] = target_json(*profile.target);
  return json;
}

}  // namespace hot::reports
