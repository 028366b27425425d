#include "analyzers/profile/batches.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzers/profile/memory_step.hpp"
#include "backward/peak_memory.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "models/forward.hpp"

namespace hot::profile {
namespace {

constexpr int kTimed = 3;
constexpr double kUsable = 0.6;  ///< the heap has holes, and watched steps keep their notes
constexpr double kProbed = 0.2;  ///< of what is available, before a larger batch is estimated
constexpr double kLong = 10;     ///< seconds of a step beyond which one is timed

std::unique_ptr<backward::Replacement> put_in_place(const verify::StepSetting& setting,
                                                    const verify::Replaced& replaced) {
  if (replaced.empty()) return nullptr;
  return std::make_unique<backward::Replacement>(setting.model, replaced, setting.seed);
}

double fastest_ms(const verify::StepSetting& setting) {
  double best = 0;
  for (int i = 0; i < kTimed; ++i) {
    const auto step = models::run_step(setting.model, setting.batch, setting.loss, setting.seed);
    const double seconds = step.forward_seconds + step.backward_seconds;
    best = i == 0 ? seconds : std::min(best, seconds);
    if (seconds > kLong) break;
  }
  return best * 1e3;
}

BatchPoint measure(const verify::StepSetting& setting, std::int64_t batch,
                   const verify::Replaced& replaced, const std::string& optimizer) {
  BatchPoint point;
  point.batch = batch;
  point.peak_bytes = step_bytes(setting, {}, optimizer);
  if (!replaced.empty()) point.plan_peak_bytes = step_bytes(setting, replaced, optimizer);
  point.step_ms = fastest_ms(setting);
  return point;
}

std::string gigabytes(double bytes) {
  return fmt::format("{:.3g} GB ({:.0f} bytes)", bytes / 1e9, bytes);
}

}  // namespace

std::int64_t step_bytes(const verify::StepSetting& setting, const verify::Replaced& replaced,
                        const std::string& optimizer) {
  Optimizer real(optimizer, setting.model);
  {
    auto first = models::run_step(setting.model, setting.batch, setting.loss, setting.seed);
    real.step(first.gradients);
  }
  const auto replacement = put_in_place(setting, replaced);
  std::int64_t peak = 0;
  {
    const backward::PeakMemory memory(setting.model.device);
    auto step = models::run_step(setting.model, setting.batch, setting.loss, setting.seed);
    real.step(step.gradients);
    peak = memory.peak_bytes();
  }
  return parameter_bytes(setting.model) + buffer_bytes(setting.model) + real.state_bytes() + peak;
}

std::optional<LineFit> fit_line(const std::vector<std::pair<double, double>>& points) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  std::set<double> different;
  for (const auto& [a, b] : points) {
    different.insert(a);
    n += 1;
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  if (different.size() < 2) return std::nullopt;
  LineFit fit;
  fit.slope = (n * xy - x * y) / (n * xx - x * x);
  fit.constant = (y - fit.slope * x) / n;
  for (const auto& [a, b] : points) {
    if (b != 0) fit.error = std::max(fit.error, std::abs(fit.at(a) - b) / std::abs(b));
  }
  return fit;
}

BatchSweep sweep(const models::Model& model, const BatchMaker& maker, std::uint64_t seed,
                 const std::vector<std::int64_t>& batches, const verify::Replaced& replaced,
                 const std::string& optimizer, const std::function<void(std::string_view)>& next) {
  BatchSweep result;
  std::vector<std::pair<double, double>> time, exact, plan;
  for (const std::int64_t batch : batches) {
    next(fmt::format("batch {}", batch));
    BatchPoint point;
    point.batch = batch;
    try {
      const auto [inputs, loss] = maker(batch);
      point = measure({model, inputs.batches.front(), loss, seed}, batch, replaced, optimizer);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      point.failure = error.what();
    }
    result.points.push_back(point);
    if (!point.failure.empty()) continue;
    const auto b = static_cast<double>(batch);
    time.emplace_back(b, point.step_ms);
    exact.emplace_back(b, static_cast<double>(point.peak_bytes));
    if (point.plan_peak_bytes > 0) plan.emplace_back(b, static_cast<double>(point.plan_peak_bytes));
  }
  result.time = fit_line(time);
  result.exact = fit_line(exact);
  result.plan = fit_line(plan);
  return result;
}

std::string advise_batch(const models::Model& model, const BatchMaker& maker, std::uint64_t seed,
                         std::int64_t wanted, std::int64_t available) {
  if (wanted < 2 || available <= 0) return "";
  // The peak grows by another slope once activations outgrow the gradients: from small batches up
  // to one that takes a good part of what there is. No optimizer state: the step itself is what
  // failed.
  std::vector<std::pair<double, double>> points;
  for (std::int64_t batch = 2; batch < wanted; batch *= 2) {
    try {
      const auto [inputs, loss] = maker(batch);
      const backward::PeakMemory memory(model.device);
      static_cast<void>(models::run_step(model, inputs.batches.front(), loss, seed));
      points.emplace_back(static_cast<double>(batch), static_cast<double>(memory.peak_bytes()));
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception&) {
      break;
    }
    if (points.back().second > kProbed * static_cast<double>(available)) break;
  }
  if (points.size() < 2) return "";
  points.erase(points.begin(), points.end() - 2);
  const auto fit = fit_line(points);
  if (!fit) return "";
  const double needed = fit->at(static_cast<double>(wanted));
  // Libraries take some past the allocator's reports, and the process may not take all.
  const std::int64_t fits = fit->largest(kUsable * static_cast<double>(available));
  const std::string needs = fmt::format(
      "a step of batch {} needs about {} beside the parameters (modelled from batches {:.0f} and "
      "{:.0f}), {} are available",
      wanted, gigabytes(needed), points[0].first, points[1].first,
      gigabytes(static_cast<double>(available)));
  if (fits < 1) return needs + "; not even one sample would fit";
  return fmt::format("{}; --batch {} would fit", needs, std::min(fits, wanted - 1));
}

std::int64_t batch_of(const models::Batch& batch) {
  std::int64_t size = 0;
  for (const auto& input : batch.inputs) {
    models::for_each_tensor(input, [&](const at::Tensor& tensor) {
      if (size == 0 && tensor.dim() > 0) size = tensor.size(0);
    });
  }
  return size;
}

}  // namespace hot::profile
