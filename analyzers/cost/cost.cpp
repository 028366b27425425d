#include "analyzers/cost/cost.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzers/cost/cache.hpp"
#include "analyzers/cost/layer_clock.hpp"
#include "analyzers/cost/stopwatch.hpp"
#include "analyzers/select/cost.hpp"
#include "analyzers/select/policies.hpp"
#include "core/interrupt.hpp"

namespace hot::cost {
namespace {

/// One gradient of one layer and its rows.
struct Gradient {
  const LayerTrace* layer;
  Path path;
  std::vector<ErrorRow*> rows;
};

double value_or(const ErrorRow& row, const char* name, double otherwise) {
  const Metric* metric = row.metrics.find(name);
  return metric == nullptr ? otherwise : metric->value;
}

/// The rows that no other one beats in error, modelled cost and bytes, and the presets'.
std::vector<ErrorRow*> worth_timing(const Gradient& g) {
  struct Point {
    double error, cost, bytes;
  };
  std::vector<Point> points;
  for (const ErrorRow* row : g.rows) {
    points.push_back({value_or(*row, "relative_error", HUGE_VAL),
                      select::modelled_cost(row->scheme, g.layer->path(g.path)),
                      value_or(*row, "kept_bytes", 0)});
  }
  const auto beats = [](const Point& a, const Point& b) {
    return a.error <= b.error && a.cost <= b.cost && a.bytes <= b.bytes &&
           (a.error < b.error || a.cost < b.cost || a.bytes < b.bytes);
  };
  auto named = select::preset_schemes("hot", g.path);
  std::vector<ErrorRow*> chosen;
  for (std::size_t i = 0; i < g.rows.size(); ++i) {
    if (g.rows[i]->execution == Execution::simulated) continue;
    const bool beaten = std::any_of(points.begin(), points.end(),
                                    [&](const Point& p) { return beats(p, points[i]); });
    const bool preset = std::find(named.begin(), named.end(), g.rows[i]->scheme) != named.end();
    if (!beaten || preset) chosen.push_back(g.rows[i]);
  }
  return chosen;
}

/// Times by key: from the cache, else measured while there is time.
class Times {
 public:
  Times(const Geometries& geometries, const Options& options)
      : geometries_(geometries),
        seconds_(options.seconds),
        device_(options.runs_on),
        cache_(options.device) {}

  /// ms over all calls of the layer; nullopt where there is no time left to measure it.
  std::optional<double> of(const Gradient& g, const Scheme& scheme) {
    double sum = 0;
    const auto calls = geometries_.find(g.layer->name);
    if (calls == geometries_.end()) return std::nullopt;
    for (const Geometry& geometry : calls->second) {
      const auto ms = of_call(geometry, g.path, scheme);
      if (!ms) return std::nullopt;
      sum += *ms;
    }
    return sum;
  }

  /// Gradients that did not fit into the GPU's memory.
  [[nodiscard]] const std::set<std::string>& too_large() const { return too_large_; }

  void save() { cache_.save(); }
  [[nodiscard]] const std::string& note() const { return cache_.note(); }

 private:
  std::optional<double> of_call(const Geometry& geometry, Path path, const Scheme& scheme) {
    const std::string key =
        fmt::format("{} {} {}", geometry.key(), to_string(path), to_string(scheme));
    if (const auto known = cache_.find(key)) return known;
    if (spent_ > seconds_) return std::nullopt;
    throw_if_interrupted();
    double ms = 0;
    bool fits = true;
    spent_ += 1e-3 * milliseconds_of([&] {
                try {
                  ms = measured(geometry, path, scheme);
                } catch (const c10::OutOfMemoryError&) {
                  fits = false;
                }
              });
    if (!fits) {
      clock_.reset();
      too_large_.insert(geometry.key());
      return std::nullopt;
    }
    cache_.put(key, ms);
    return ms;
  }

  double measured(const Geometry& geometry, Path path, const Scheme& scheme) {
    if (!clock_ || clock_key_ != geometry.key()) {
      clock_.reset();
      clock_ = std::make_unique<LayerClock>(geometry, device_);
      clock_key_ = geometry.key();
    }
    return scheme.is_exact() ? clock_->exact(path) : clock_->by_scheme(path, scheme);
  }

  const Geometries& geometries_;
  double seconds_;
  at::Device device_;
  std::set<std::string> too_large_;
  double spent_ = 0;
  TimeCache cache_;
  std::unique_ptr<LayerClock> clock_;  ///< of the last geometry
  std::string clock_key_;
};

/// Of exact products, ms for each FLOP of those that were measured.
struct Rate {
  double ms = 0;
  double flops = 0;
  [[nodiscard]] double of(std::int64_t work) const {
    return static_cast<double>(work) * (flops > 0 ? ms / flops : 1e-8);
  }
};

std::vector<Gradient> gradients_of(const Trace& trace, ErrorTable& table) {
  std::vector<Gradient> gradients;
  std::map<std::pair<std::string, Path>, std::size_t> index;
  for (const LayerTrace& layer : trace.layers) {
    if (!layer.eligible) continue;
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      if (layer.path(path).flops == 0) continue;
      index[{layer.name, path}] = gradients.size();
      gradients.push_back({&layer, path, {}});
    }
  }
  for (ErrorRow& row : table.rows) {
    const auto found = index.find({row.layer, row.path});
    if (found != index.end() && !row.scheme.is_exact())
      gradients[found->second].rows.push_back(&row);
  }
  std::stable_sort(gradients.begin(), gradients.end(), [](const Gradient& a, const Gradient& b) {
    return a.layer->path(a.path).flops > b.layer->path(b.path).flops;
  });
  return gradients;
}

class Stage {
 public:
  Stage(const Trace& trace, const Geometries& geometries, const Options& options,
        const Progress& progress, ErrorTable& table)
      : progress_(progress),
        table_(table),
        times_(geometries, options),
        gradients_(gradients_of(trace, table)) {}

  void operator()() {
    for (const Gradient& g : gradients_) {  // exact ones first: everything is relative to them
      tell(g);
      const auto ms = times_.of(g, Scheme{});
      if (ms) rate_.ms += *ms, rate_.flops += static_cast<double>(g.layer->path(g.path).flops);
      exact_.push_back(ms);
    }
    for (std::size_t i = 0; i < gradients_.size(); ++i) add(gradients_[i], exact_[i]);
    times_.save();
    if (!times_.note().empty()) table_.notes.push_back(times_.note());
    if (!times_.too_large().empty()) {
      table_.notes.push_back(
          fmt::format("Out of memory on the GPU while timing layers of {}: their times are "
                      "modelled.",
                      fmt::join(times_.too_large(), "; ")));
    }
    if (modelled_ > 0) {
      table_.notes.push_back(
          fmt::format("Times of {} of {} schemes that were worth timing are modelled: measuring "
                      "stopped when its time was over; the next run goes on from there.",
                      modelled_, modelled_ + measured_));
    }
    if (progress_) progress_("cost", total(), total(), "");
  }

 private:
  [[nodiscard]] std::int64_t total() const {
    return 2 * static_cast<std::int64_t>(gradients_.size());
  }

  void tell(const Gradient& g) {
    if (progress_) progress_("cost", done_++, total(), g.layer->name);
  }

  void add(const Gradient& g, std::optional<double> exact) {
    tell(g);
    const PathWork& work = g.layer->path(g.path);
    const double exact_ms = exact.value_or(rate_.of(work.flops));
    set_fact(g, exact_ms, exact ? Origin::measured : Origin::modelled);
    double over = 0;  // Σ log(measured / modelled)
    int count = 0;
    for (ErrorRow* row : worth_timing(g)) {
      const auto ms = times_.of(g, row->scheme);
      ++(ms ? measured_ : modelled_);
      if (!ms) continue;
      row->metrics.set("time_ms", *ms, Origin::measured);
      over += std::log(*ms / (exact_ms * select::modelled_cost(row->scheme, work)));
      ++count;
    }
    const double factor = count > 0 ? std::exp(over / count) : 1;
    for (ErrorRow* row : g.rows) {
      if (row->metrics.find("time_ms") != nullptr) continue;
      row->metrics.set("time_ms", factor * exact_ms * select::modelled_cost(row->scheme, work),
                       Origin::modelled);
    }
  }

  void set_fact(const Gradient& g, double ms, Origin origin) {
    for (LayerFacts& facts : table_.facts) {
      if (facts.layer != g.layer->name) continue;
      facts.metrics.set(g.path == Path::grad_input ? "exact_input_ms" : "exact_weight_ms", ms,
                        origin);
    }
  }

  const Progress& progress_;
  ErrorTable& table_;
  Times times_;
  std::vector<Gradient> gradients_;
  std::vector<std::optional<double>> exact_;
  Rate rate_;
  std::int64_t done_ = 0;
  int measured_ = 0;
  int modelled_ = 0;
};

}  // namespace

void add_times(const Trace& trace, const Geometries& geometries, const Options& options,
               const Progress& progress, ErrorTable& table) {
  Stage(trace, geometries, options, progress, table)();
}

}  // namespace hot::cost
