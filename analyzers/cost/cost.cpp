#include "analyzers/cost/cost.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

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
#include "analyzers/cost/time_model.hpp"
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

/// The scheme whose time stands for this one's: which rows of H_n are kept makes no difference.
Scheme timed_as(Scheme scheme) {
  scheme.transform.basis = Basis::sequency;
  return scheme;
}

/// Times by key: from the cache, else measured while there is time.
class Times {
 public:
  Times(const Geometries& geometries, const Options& options)
      : geometries_(geometries),
        seconds_(options.seconds),
        device_(options.runs_on),
        cache_(options.device) {}

  /// ms over all calls of the layer; nullopt where there is no time left to measure a scheme, or no
  /// memory.
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

  /// Lets go of the layer that was timed last, with the memory that it was timed in: the steps that
  /// follow would be counted on top of it.
  void rest() {
    clock_.reset();
    malloc_trim(0);
  }

  void save() { cache_.save(); }
  [[nodiscard]] const std::string& note() const { return cache_.note(); }

 private:
  std::optional<double> of_call(const Geometry& geometry, Path path, const Scheme& scheme) {
    const std::string key =
        fmt::format("{} {} {}", geometry.key(), to_string(path), to_string(timed_as(scheme)));
    if (const auto known = cache_.find(key)) return known;
    if (!scheme.is_exact() && spent_ > seconds_) return std::nullopt;
    throw_if_interrupted();
    double ms = 0;
    bool fits = true;
    const double seconds = 1e-3 * milliseconds_of([&] {
                             try {
                               ms = measured(geometry, path, scheme);
                             } catch (const c10::OutOfMemoryError&) {
                               fits = false;
                             }
                           });
    if (!scheme.is_exact()) spent_ += seconds;
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
      rest();
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

std::string name_of(const Gradient& g) {
  return fmt::format("{} {}", g.layer->name, to_string(g.path));
}

/// A layer of a plan, in ms: its exact products, those that schemes replace, and the schemes.
struct PlannedLayer {
  double exact = 0;
  double replaced = 0;
  double schemes = 0;
  double ratio = 0;     ///< the schemes in the running model, over that
  bool slower = false;  ///< in the running model, than exact there
};

struct Weighted {
  double value;
  double weight;
};

/// The value that half of the weight lies below.
double median(std::vector<Weighted> values) {
  std::sort(values.begin(), values.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double half = 0;
  for (const Weighted& v : values) half += v.weight / 2;
  for (const Weighted& v : values) {
    half -= v.weight;
    if (half <= 0) return v.value;
  }
  return values.back().value;
}

/// What the scheme's kernels have in common over all shapes.
std::string kind_of(const Gradient& g, const Scheme& scheme) {
  return fmt::format("{} {}", to_string(g.path), to_string(timed_as(scheme)));
}

}  // namespace

struct TimeTable::State {
  State(const Trace& trace, const Geometries& geometries, const Options& o, ErrorTable& t)
      : options(o), table(t), times(geometries, o), gradients(gradients_of(trace, t)) {
    for (const Gradient& g : gradients) slowness[g.layer->name] = 1;
  }

  /// What schemes of this gradient take in the running model, over what they take as exact ones do.
  [[nodiscard]] double pace_of(const Gradient& g) const {
    return scheme_pace * slowness.at(g.layer->name);
  }

  Options options;
  ErrorTable& table;
  Times times;
  std::vector<Gradient> gradients;
  std::vector<double> exact;               ///< ms in the model, parallel to gradients
  double pace = 1;                         ///< ms in the model / ms alone, over all exact products
  double scheme_pace = 1;                  ///< the same of the schemes of a plan, beyond pace
  std::map<std::string, double> slowness;  ///< of layers that were slower than exact, beyond that
  TimeModel model;
  Rate rate;

  /// On a device without int4 units, int4 products take what int8 ones take.
  [[nodiscard]] double modelled(const Gradient& g, Scheme scheme) const {
    if (scheme.format == Format::int4 && !options.fast_int4) scheme.format = Format::int8;
    return select::modelled_cost(scheme, g.layer->path(g.path));
  }

  /// The row most likely to be picked for its time: the smallest error times modelled cost.
  [[nodiscard]] ErrorRow* likeliest(const Gradient& g) const {
    ErrorRow* best = nullptr;
    double least = HUGE_VAL;
    for (ErrorRow* row : g.rows) {
      if (row->execution == Execution::simulated) continue;
      const double merit = value_or(*row, "relative_error", HUGE_VAL) * modelled(g, row->scheme);
      if (merit >= least) continue;
      least = merit;
      best = row;
    }
    return best;
  }

  void set_exact(std::size_t i, double ms, Origin origin) {
    const Gradient& g = gradients[i];
    for (LayerFacts& facts : table.facts) {
      if (facts.layer != g.layer->name) continue;
      facts.metrics.set(g.path == Path::grad_input ? "exact_input_ms" : "exact_weight_ms", ms,
                        origin);
    }
  }

  /// Measures one row unless it is, or is simulated; false where there is no time.
  bool measure(std::size_t i, ErrorRow& row) {
    const Metric* known = row.metrics.find("time_ms");
    if (known != nullptr && known->origin == Origin::measured) return false;
    if (row.execution == Execution::simulated) return false;  // no kernel of its own to time
    const Gradient& g = gradients[i];
    const auto alone = times.of(g, row.scheme);
    if (!alone) return false;
    const double ms = pace * *alone;
    row.metrics.set("time_ms", pace_of(g) * ms, Origin::measured);
    model.add(name_of(g), kind_of(g, row.scheme), ms / (exact[i] * modelled(g, row.scheme)));
    return true;
  }

  void measure_exact(const std::map<std::string, double>& in_the_model) {
    std::vector<std::optional<double>> found;
    for (const Gradient& g : gradients) {
      found.push_back(times.of(g, Scheme{}));
      if (!found.back()) continue;
      rate.ms += *found.back();
      rate.flops += static_cast<double>(g.layer->path(g.path).flops);
    }
    std::map<std::string, double> alone;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const Gradient& g = gradients[i];
      exact.push_back(found[i].value_or(rate.of(g.layer->path(g.path).flops)));
      alone[g.layer->name] += exact[i];
    }
    double sum_alone = 0;
    double sum_in_the_model = 0;
    for (const auto& [layer, ms] : in_the_model) {
      if (!alone.contains(layer) || ms <= 0) continue;
      sum_alone += alone[layer];
      sum_in_the_model += ms;
    }
    if (sum_alone > 0) pace = sum_in_the_model / sum_alone;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const std::string& layer = gradients[i].layer->name;
      const auto seen = in_the_model.find(layer);
      const bool known = seen != in_the_model.end() && seen->second > 0;
      exact[i] *= known ? seen->second / alone[layer] : pace;
      set_exact(i, exact[i], found[i] ? Origin::measured : Origin::modelled);
    }
  }

  /// What INT4 buys: of the largest gradient, the INT8 scheme that differs from a timed INT4 one in
  /// nothing else.
  void measure_twin() {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      for (const ErrorRow* four : gradients[i].rows) {
        const Metric* ms = four->metrics.find("time_ms");
        if (ms == nullptr || ms->origin != Origin::measured || four->scheme.format != Format::int4)
          continue;
        Scheme twin = four->scheme;
        twin.format = Format::int8;
        for (ErrorRow* row : gradients[i].rows) {
          if (row->scheme == twin) return (void)measure(i, *row);
        }
      }
    }
  }

  void fill_in() {
    model.fit();
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const Gradient& g = gradients[i];
      for (ErrorRow* row : g.rows) {
        const Metric* known = row->metrics.find("time_ms");
        if (known != nullptr && known->origin == Origin::measured) continue;
        if (row->execution == Execution::simulated) continue;
        const double factor = model.factor(name_of(g), kind_of(g, row->scheme));
        row->metrics.set("time_ms", pace_of(g) * factor * exact[i] * modelled(g, row->scheme),
                         Origin::modelled);
      }
    }
  }

  /// The gradient's row of the plan's scheme; nullptr where it stays exact.
  [[nodiscard]] ErrorRow* picked(const Gradient& g, const Plan& plan) const {
    const LayerPlan* planned = plan.find(g.layer->name);
    if (planned == nullptr) return nullptr;
    const Scheme& scheme = g.path == Path::grad_input ? planned->grad_input : planned->grad_weight;
    const auto row = std::find_if(g.rows.begin(), g.rows.end(),
                                  [&](const ErrorRow* r) { return r->scheme == scheme; });
    return row == g.rows.end() ? nullptr : *row;
  }
};

TimeTable::TimeTable(const Trace& trace, const Geometries& geometries, const Options& options,
                     ErrorTable& table)
    : state_(std::make_unique<State>(trace, geometries, options, table)) {}

TimeTable::~TimeTable() = default;

void TimeTable::begin(const std::map<std::string, double>& in_the_model, const Progress& progress) {
  State& s = *state_;
  const auto total = static_cast<std::int64_t>(s.gradients.size()) + 1;
  if (progress) progress("cost", 0, total, "exact products");
  s.measure_exact(in_the_model);
  for (std::size_t i = 0; i < s.gradients.size(); ++i) {
    const Gradient& g = s.gradients[i];
    if (progress) progress("cost", static_cast<std::int64_t>(i) + 1, total, g.layer->name);
    if (ErrorRow* row = s.likeliest(g)) (void)s.measure(i, *row);
  }
  for (std::size_t i = 0; i < s.gradients.size(); ++i) {
    const auto named = select::preset_schemes("hot", s.gradients[i].path);
    for (ErrorRow* row : s.gradients[i].rows) {
      if (std::find(named.begin(), named.end(), row->scheme) != named.end())
        (void)s.measure(i, *row);
    }
  }
  s.measure_twin();
  s.times.rest();
  s.fill_in();
  if (progress) progress("cost", total, total, "");
}

bool TimeTable::measure_picks(const Plan& plan) {
  State& s = *state_;
  bool any = false;
  for (std::size_t i = 0; i < s.gradients.size(); ++i) {
    ErrorRow* row = s.picked(s.gradients[i], plan);
    if (row != nullptr && s.measure(i, *row)) any = true;
  }
  if (!any) return false;
  s.times.rest();
  s.fill_in();
  return true;
}

bool TimeTable::calibrate(const Plan& plan, const std::map<std::string, double>& in_the_model) {
  State& s = *state_;
  std::map<std::string, PlannedLayer> layers;
  for (std::size_t i = 0; i < s.gradients.size(); ++i) {
    PlannedLayer& layer = layers[s.gradients[i].layer->name];
    const ErrorRow* row = s.picked(s.gradients[i], plan);
    layer.exact += s.exact[i];
    if (row == nullptr || row->execution == Execution::simulated) continue;
    layer.replaced += s.exact[i];
    layer.schemes += row->metrics.value("time_ms");
  }
  std::vector<Weighted> ratios;
  for (auto& [name, layer] : layers) {
    const auto found = in_the_model.find(name);
    if (found == in_the_model.end() || layer.schemes <= 0) continue;
    layer.ratio = (found->second - (layer.exact - layer.replaced)) / layer.schemes;
    layer.slower = found->second > layer.exact;
    if (layer.ratio > 0) ratios.push_back({layer.ratio, layer.schemes});
  }
  if (ratios.empty()) return false;
  const double factor = median(std::move(ratios));
  s.scheme_pace *= factor;
  for (const Gradient& g : s.gradients) {
    const PlannedLayer& layer = layers[g.layer->name];
    const double own = layer.slower ? std::max(factor, layer.ratio) : factor;
    s.slowness[g.layer->name] *= own / factor;
    for (ErrorRow* row : g.rows) {
      const Metric* ms = row->metrics.find("time_ms");
      if (ms != nullptr) row->metrics.set("time_ms", own * ms->value, ms->origin);
    }
  }
  return true;
}

void TimeTable::end(const Plan* plan) {
  State& s = *state_;
  s.times.save();
  if (!s.times.note().empty()) s.table.notes.push_back(s.times.note());
  if (!s.times.too_large().empty()) {
    s.table.notes.push_back(
        fmt::format("Out of memory on the GPU while timing layers of {}: their times are modelled.",
                    fmt::join(s.times.too_large(), "; ")));
  }
  if (s.pace != 1) {
    s.table.notes.push_back(fmt::format(
        "In the running model, exact backward passes of eligible layers take {:.3g} times as long "
        "as alone, and the schemes {} {:.3g} times (measured); their times, measured alone, are "
        "taken so much longer.",
        s.pace, s.scheme_pace == 1 ? "are taken to take" : "of the plan", s.pace * s.scheme_pace));
  }
  if (plan == nullptr) return;
  int picks = 0;
  int modelled = 0;
  for (const Gradient& g : s.gradients) {
    const ErrorRow* row = s.picked(g, *plan);
    if (row == nullptr || row->execution == Execution::simulated) continue;
    ++picks;
    if (row->metrics.find("time_ms")->origin != Origin::measured) ++modelled;
  }
  if (modelled == 0) return;
  const auto error = s.model.error();
  s.table.notes.push_back(fmt::format(
      "Times of {} of the plan's {} schemes are modelled from other shapes and schemes: measuring "
      "stopped when its time was over{}; the next run goes on from there.",
      modelled, picks,
      error ? fmt::format(" (of those measured, the model is off by {:.0f} % in the median)",
                          100 * *error)
            : ""));
}

}  // namespace hot::cost
