#include "pipeline.hpp"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

#include "analyzers/cost/cost.hpp"
#include "analyzers/device/observe_step.hpp"
#include "analyzers/measure/measure.hpp"
#include "analyzers/measure/portfolio.hpp"
#include "analyzers/measure/resolve.hpp"
#include "analyzers/profile/memory_step.hpp"
#include "analyzers/profile/probes.hpp"
#include "analyzers/profile/profile.hpp"
#include "analyzers/select/cost.hpp"
#include "analyzers/select/policies.hpp"
#include "analyzers/select/predict.hpp"
#include "analyzers/select/repair.hpp"
#include "analyzers/trace/trace.hpp"
#include "analyzers/train/train.hpp"
#include "analyzers/verify/verify.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/native_formats.hpp"
#include "device/choose.hpp"
#include "environment.hpp"
#include "gpu_facts.hpp"
#include "kernels/gpu_state.hpp"
#include "models/file/memory_limit.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"
#include "models/warnings.hpp"
#include "plan_match.hpp"
#include "process_memory.hpp"

namespace hot {
namespace {

/// Schemes are timed for as long as this many training steps take.
constexpr double kTimingSteps = 2;
constexpr double kLeastTimingSeconds = 1;
/// Plans whose schemes are timed before the last one.
constexpr int kTimedPlans = 4;
/// Steps that show how fast layers are in the running model: two, more of them if short. A plan has
/// one more before them, a warm-up: its kernels have not run there before.
constexpr int kLeastSteps = 2;
constexpr int kMostSteps = 20;
constexpr double kStepsSeconds = 0.3;

/// Writes the seconds of a stage into the report's run when its life ends.
class StageTime {
 public:
  StageTime(Metrics& run, std::string_view name)
      : run_(run), name_(name), start_(std::chrono::steady_clock::now()) {}
  ~StageTime() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    run_.set(name_, spent.count(), Origin::measured);
  }
  StageTime(const StageTime&) = delete;
  StageTime& operator=(const StageTime&) = delete;

 private:
  Metrics& run_;
  std::string_view name_;
  std::chrono::steady_clock::time_point start_;
};

/// Size and time of this program's file: another build's times are not this one's.
std::string program_stamp() {
  std::error_code none;
  const std::filesystem::path self = "/proc/self/exe";
  return fmt::format("{} {}", std::filesystem::file_size(self, none),
                     std::filesystem::last_write_time(self, none).time_since_epoch().count());
}

void describe_model(const models::Model& model, ModelInfo& info) {
  info.path = model.path;
  info.sha256 = model.sha256;
  info.parameters = model.scalar_count();
  info.notes = model.notes;
}

void describe_inputs(const models::Inputs& inputs, ModelInfo& info) {
  info.inputs = inputs.description;
  info.inputs_source = inputs.source;
  info.batches = static_cast<int>(inputs.batches.size());
  info.notes.insert(info.notes.end(), inputs.notes.begin(), inputs.notes.end());
}

/// Called after the trace: until then the process has loaded the model and run single steps, no
/// more.
void remember_step_memory(Metrics& run) {
  if (const std::int64_t bytes = peak_resident_bytes(); bytes > 0)
    run.set("step_peak_bytes", static_cast<double>(bytes), Origin::measured);
}

/// What the whole run took, beside the plain training step if there was one.
void describe_run(double seconds, Report& report) {
  report.elapsed_seconds = seconds;
  report.peak_memory_bytes = peak_resident_bytes();
  if (report.trace && report.trace->step_seconds > 0) {
    const double steps = seconds / report.trace->step_seconds;
    report.run.set("run_to_step_ratio", steps, Origin::measured);
    report.run.set("run_to_step_per_batch", steps / std::max(1, report.model.batches),
                   Origin::measured);
  }
  if (report.run.find("step_peak_bytes") == nullptr) return;
  const auto bytes = static_cast<double>(report.peak_memory_bytes);
  const double ratio = bytes / report.run.value("step_peak_bytes");
  report.run.set("run_peak_bytes", bytes, Origin::measured);
  report.run.set("run_to_step_memory", ratio, Origin::measured);
}

/// What is measured: the portfolio, or what was asked for, and what the policy may take.
measure::Options with_policys_schemes(const PipelineOptions& options) {
  measure::Options measured = options.measure;
  if (measured.schemes.empty()) measured.schemes = measure::default_portfolio();
  for (const Path path : {Path::grad_input, Path::grad_weight})
    for (const Scheme& scheme : select::preset_schemes(options.select.policy, path))
      if (std::find(measured.schemes.begin(), measured.schemes.end(), scheme) ==
          measured.schemes.end())
        measured.schemes.push_back(scheme);
  return measured;
}

/// Schemes of grad_weight that can be kept in place of x.
std::vector<Scheme> kept_schemes(const measure::Options& options) {
  std::vector<Scheme> kept = measure::legal_schemes(options.schemes, Path::grad_weight);
  std::erase_if(kept, is_simulated);  // whose bytes are the simulation's
  return kept;
}

/// What one run measures times by.
cost::Options cost_options(const Report& report) {
  const Environment& e = report.environment;
  cost::Options options;
  options.device =
      fmt::format("{} | {} | threads {} | torch {} | kernels {} | {} | {}", e.tool_version, e.cpu,
                  at::get_num_threads(), e.torch, e.kernels, e.integer_gemm, program_stamp()) +
      (e.gpu ? fmt::format(" | {} {}", e.gpu->name, e.gpu->driver) : "");
  options.runs_on = e.device;
  options.seconds = std::max(kLeastTimingSeconds, kTimingSteps * report.trace->step_seconds);
  return options;
}

/// Errors of all schemes and what they do beyond their own gradient. `geometries` gets the layers'
/// shapes.
void measure_errors(const PipelineOptions& options, const Progress& progress,
                    const models::Model& model, const models::Inputs& inputs,
                    const models::Loss& loss, cost::Geometries& geometries, Report& report) {
  const StageTime time(report.run, "measure_seconds");
  const measure::Options how = with_policys_schemes(options);
  cost::StepFacts facts(model, *report.trace, kept_schemes(how),
                        measure::samples_of(inputs.batches.front()));
  report.errors = measure::measure(
      model, inputs, loss, *report.trace, how, progress,
      {[&] { facts.between(); }, [&](const backward::Operands& o) { facts.add(o); },
       [&](const models::StepResult& step) { facts.end(step); }});
  if (report.errors->facts.empty()) return;
  geometries = facts.finish(inputs.batches.front(), loss, options.seed, *report.errors);
}

/// Mean ms of every layer's backward pass in running steps, exact but for `replaced`.
std::map<std::string, double> in_the_model(const verify::StepSetting& setting,
                                           const verify::Replaced& replaced) {
  std::map<std::string, double> ms;
  if (!replaced.empty()) (void)verify::timed_step(setting, replaced);
  int steps = 0;
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> spent{};
  while (steps < kLeastSteps || (steps < kMostSteps && spent.count() < kStepsSeconds)) {
    throw_if_interrupted();
    const verify::StepRun run = verify::timed_step(setting, replaced);
    for (const auto& [layer, seconds] : verify::layer_seconds(run)) ms[layer] += 1e3 * seconds;
    ++steps;
    spent = std::chrono::steady_clock::now() - start;
  }
  for (auto& [layer, sum] : ms) sum /= steps;
  return ms;
}

/// True where a format of the plan's is simulated: what it takes is no time of the plan.
bool simulates(const Plan& plan) {
  return std::any_of(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& layer) {
    return is_simulated(layer.grad_input) || is_simulated(layer.grad_weight);
  });
}

/// Times of the schemes, and the plan: each plan's own schemes are timed, alone and in the running
/// model, and the next one heeds it.
void find_plan(const PipelineOptions& options, const verify::StepSetting& setting,
               const Progress& progress, const cost::Geometries& geometries, Report& report) {
  std::optional<cost::TimeTable> times;
  if (!report.errors->facts.empty()) {
    const StageTime time(report.run, "cost_seconds");
    times.emplace(*report.trace, geometries, cost_options(report), *report.errors);
    times->begin(in_the_model(setting, {}), progress);
  }
  const StageTime time(report.run, "select_seconds");
  if (options.last != Stage::measure) {
    select::Options first = options.select;
    first.pareto = false;  // of the last plan alone
    const auto solve = [&](const select::Options& how) {
      return select::select(*report.trace, *report.errors,
                            {report.model.sha256, report.model.parameters}, how);
    };
    const auto settle = [&] {
      report.plan = solve(first);
      for (int round = 0; round < kTimedPlans && times && times->measure_picks(*report.plan);
           ++round)
        report.plan = solve(first);
    };
    settle();
    const verify::Replaced planned = verify::planned_layers(*report.plan);
    if (times && !planned.empty() && !simulates(*report.plan) &&
        times->calibrate(*report.plan, in_the_model(setting, planned)))
      settle();
    if (options.select.pareto) report.plan = solve(options.select);
  }
  if (times) times->end(report.plan ? &*report.plan : nullptr);
}

/// What this machine reaches at most: the roofline of the products that were timed.
void add_ceilings(c10::Device device, Metrics& run) {
  const profile::Ceilings ceilings = profile::measure_ceilings(device);
  run.set("gemm_flops_per_second", ceilings.float32_flops, Origin::measured);
  run.set("copy_bytes_per_second", ceilings.bytes_per_second, Origin::measured);
}

/// Minibatches and loss of another batch size.
profile::BatchMaker batch_maker(const PipelineOptions& options, const models::Model& model) {
  return [&options, &model](std::int64_t batch) {
    models::InputOptions how = options.inputs;
    how.batch = static_cast<int>(batch);
    how.batches = 1;
    models::Inputs inputs = models::make_inputs(model, how);
    models::Loss loss =
        models::Loss::choose(options.loss, model, inputs.batches.front(), options.seed);
    return std::pair{std::move(inputs), std::move(loss)};
  };
}

/// The layers that a plan changes; none without one.
verify::Replaced replaced_by(const std::optional<Plan>& plan) {
  return plan ? verify::planned_layers(*plan) : verify::Replaced{};
}

/// What a GPU really ran in a step, by its own records.
void observe_device(const verify::StepSetting& setting, Report& report) {
  if (setting.model.device.is_cpu()) return;
  report.device = device::profile_device(setting, replaced_by(report.plan));
}

void profile_step(const PipelineOptions& options, const models::Model& model,
                  const verify::StepSetting& setting, const Progress& progress, Report& report) {
  report.profile.emplace();
  report.step.emplace();
  profile::profile(setting, *report.trace, report.plan ? &*report.plan : nullptr,
                   batch_maker(options, model), options.profile, progress, *report.profile,
                   &*report.step);
  observe_device(setting, report);
  if (options.memory_snapshot)
    report.memory_snapshot = device::snapshot_memory(setting, replaced_by(report.plan));
}

/// Samples in the minibatch that the user asked for: --batch, or the first size of an --input; 0
/// where neither says it.
std::int64_t wanted_batch(const models::InputOptions& options) {
  if (options.batch > 0 || options.inputs.empty()) return options.batch;
  const std::string& text = options.inputs.front();
  std::size_t begin = text.find_first_of("=:");
  begin = begin == std::string::npos ? 0 : begin + 1;
  std::int64_t size = 0;
  std::from_chars(text.data() + begin, text.data() + text.size(), size);
  return size;
}

/// A step that doesn't fit: its EnvironmentError, with the bytes that it needs and the batch that
/// would fit.
[[noreturn]] void explain_memory(const EnvironmentError& error, const PipelineOptions& options,
                                 const models::Model& model) {
  if (std::string(error.what()).find("not enough memory") == std::string::npos) throw error;
  const std::string advice =
      profile::advise_batch(model, batch_maker(options, model), options.seed,
                            wanted_batch(options.inputs), available_memory());
  throw EnvironmentError(advice.empty() ? error.what()
                                        : fmt::format("not enough memory: {}", advice));
}

/// A plan for a GPU carries what is known of it.
void add_gpu(Report& report) {
  if (!report.environment.gpu) return;
  report.plan->gpu = report.environment.gpu;
  const std::string note = emulation_note(*report.plan->gpu);
  if (!note.empty()) report.plan->notes.push_back(note);
}

/// How far the sum of what each scheme causes alone is from what the whole plan was measured to.
void compare_with_parts(const Trace& trace, const ErrorTable& errors, const Plan& plan,
                        Metrics& total) {
  const Metrics parts = select::predict(plan, trace, errors);
  const Metric* sum = parts.find("predicted_error");
  const Metric* whole = total.find("gradient_error");
  if (sum == nullptr || whole == nullptr || sum->value <= 0) return;
  total.set("parts_error", sum->value, Origin::modelled);
  total.set("additivity", whole->value / sum->value, Origin::modelled);
}

/// Runs the plan beside the exact pass, mends one of this run, and keeps the memory of both steps.
void verify_plan(const PipelineOptions& options, const models::Model& model,
                 const models::Inputs& inputs, const models::Loss& loss, const Progress& progress,
                 Report& report) {
  const StageTime time(report.run, "verify_seconds");
  verify::Options how = options.verify;
  std::optional<select::Repair> repair;
  if (!options.plan && report.plan->policy == "auto") {
    repair.emplace(*report.trace, *report.errors, options.select);
    how.repair = std::ref(*repair);
    how.missed = [&repair](const Metrics& total) { return repair->missed(total); };
  }
  profile::MemoryWatch watch;
  report.verification = verify::verify(model, inputs, loss, *report.trace, *report.plan, how,
                                       progress, std::ref(watch));
  if (report.errors)
    compare_with_parts(*report.trace, *report.errors, *report.plan, report.verification->total);
  report.profile.emplace();
  report.profile->memory = watch.comparison(model, *report.trace);
}

/// The way of the data: each stage takes the value before it and its own options.
void run_loaded(const PipelineOptions& options, const models::Model& model,
                const Progress& progress, std::optional<StageTime>& loading, Report& report) {
  models::InputOptions wanted = options.inputs;
  if (options.last == Stage::trace || options.plan || options.profiles) wanted.up_to = 0;
  if (options.select.max_error.relative && std::max(wanted.batches, wanted.up_to) < 2) {
    wanted.batches = 2;
    report.model.notes.emplace_back("--max-error in sigma: the noise was measured over 2 batches.");
  }
  const models::Inputs inputs = models::make_inputs(model, wanted);
  describe_inputs(inputs, report.model);
  const models::Loss loss =
      models::Loss::choose(options.loss, model, inputs.batches.front(), options.seed);
  report.model.loss = loss.description();
  throw_if_interrupted();
  loading.reset();

  std::optional<select::EmulatedFormats> emulated;
  std::optional<NativeFp8> native_fp8;
  if (const auto& gpu = report.environment.gpu) {
    emulated.emplace(emulated_formats(*gpu));
    if (has_native_fp8(*gpu)) native_fp8.emplace();
  }
  std::optional<device::NvtxRanges> ranges;
  if (!model.device.is_cpu()) ranges.emplace();
  {
    const StageTime time(report.run, "trace_seconds");
    report.trace = trace::trace(model, inputs, loss, options.seed, progress);
  }
  remember_step_memory(report.run);
  if (options.last == Stage::trace) return;

  const verify::StepSetting setting{model, inputs.batches.front(), loss, options.seed};
  if (options.profiles && !options.plan && !options.makes_plan)
    return profile_step(options, model, setting, progress, report);
  if (options.plan) {
    check_plan_matches(*options.plan, *report.trace);
    report.plan = options.plan;
    if (options.train) {
      report.training.emplace();
      return train::train(model, inputs, loss, *report.plan, *options.train, progress,
                          *report.training);
    }
  } else {
    cost::Geometries geometries;
    measure_errors(options, progress, model, inputs, loss, geometries, report);
    find_plan(options, setting, progress, geometries, report);
    if (options.ceilings) add_ceilings(model.device, report.run);
    if (options.last == Stage::measure) return;
    add_gpu(report);
    if (options.last == Stage::select) return;
  }
  if (options.profiles) return profile_step(options, model, setting, progress, report);
  verify_plan(options, model, inputs, loss, progress, report);
  observe_device(setting, report);
}

void run_stages(const PipelineOptions& options, const Progress& progress, Report& report) {
  std::optional<StageTime> loading(std::in_place, report.run, "load_seconds");
  models::LoadOptions how = options.model;
  how.device = report.environment.device;
  const models::Model model = models::load_model(how);
  describe_model(model, report.model);
  try {
    run_loaded(options, model, progress, loading, report);
  } catch (const EnvironmentError& error) {
    explain_memory(error, options, model);
  }
}

/// How the GPU runs now.
std::optional<GpuState> state_of(c10::Device device) {
  const kernels::CudaDevices all = kernels::cuda_devices();
  return kernels::gpu_state(all.devices.at(static_cast<std::size_t>(int{device.index()})).bus);
}

/// LibTorch's own exceptions that no stage gave a meaning: its last resort is one line without the
/// C++ stack.
[[noreturn]] void explain(const c10::Error& error) {
  const std::string message = error.what_without_backtrace();
  if (message.find("can't allocate memory") != std::string::npos)
    throw EnvironmentError("out of memory; a smaller --batch needs less");
  throw EnvironmentError(fmt::format("LibTorch failed: {}", message.substr(0, message.find('\n'))));
}

}  // namespace

void run_pipeline(const PipelineOptions& options, const Progress& progress, Report& report) {
  const auto start = std::chrono::steady_clock::now();
  models::KeptWarnings warnings;
  // The system overcommits: a step too large would be killed without a word. Others need some too.
  const c10::Device device = device::choose(options.device);
  std::optional<models::MemoryLimit> limit;
  if (const std::int64_t bytes = available_memory(); bytes > 0 && device.is_cpu())
    limit.emplace(static_cast<std::uint64_t>(bytes - bytes / 20));
  if (options.threads > 0) at::set_num_threads(options.threads);
  report.environment = describe_environment(device.str());
  report.model.path = options.model.path;
  report.model.seed = options.seed;
  const auto finish = [&] {
    if (report.environment.gpu) report.environment.gpu->after = state_of(device);
    const std::vector<std::string> warned = warnings.notes();
    report.model.notes.insert(report.model.notes.end(), warned.begin(), warned.end());
    describe_run(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                 report);
  };
  try {
    run_stages(options, progress, report);
  } catch (const std::exception& error) {
    // An interrupt can reach us through autograd or the interpreter, wrapped in an exception of
    // theirs.
    finish();
    report.interrupted = interrupt_requested();
    if (report.interrupted) return;
    if (const auto* of_torch = dynamic_cast<const c10::Error*>(&error)) explain(*of_torch);
    throw;
  }
  finish();
}

}  // namespace hot
