#include "bench/contest.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

namespace hot::bench {
namespace {

/// Means over the runs of one turn.
struct Turn {
  std::int64_t iterations = 0;
  Times mean;
};

/// Takes what Google Benchmark measured and prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const auto& run : runs) {
      turn_ = {run.iterations, {run.GetAdjustedRealTime(), {}}};
      for (const auto& [part, seconds] : run.counters) turn_.mean.parts[part] = seconds.value;
    }
  }
  [[nodiscard]] const Turn& turn() const { return turn_; }

 private:
  Turn turn_;
};

void run_turn(benchmark::State& state, const Contender& contender) {
  std::map<std::string, double> parts;
  for ([[maybe_unused]] const auto& _ : state) {
    const auto times = contender.run();
    state.SetIterationTime(times.seconds);
    for (const auto& [part, seconds] : times.parts) parts[part] += seconds;
  }
  for (const auto& [part, seconds] : parts)
    state.counters[part] = benchmark::Counter(seconds, benchmark::Counter::kAvgIterations);
}

/// One turn; `iterations` 0 lets Google Benchmark find the number that takes `seconds`.
Turn take_turn(const Contender& contender, std::int64_t iterations, double seconds) {
  auto* bench = benchmark::RegisterBenchmark(
      contender.name.c_str(), [&](benchmark::State& state) { run_turn(state, contender); });
  bench->UseManualTime()->Unit(benchmark::kSecond);
  if (iterations > 0) {
    bench->Iterations(iterations);
  } else {
    bench->MinTime(seconds);
  }
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector, ".");
  benchmark::ClearRegisteredBenchmarks();
  return collector.turn();
}

}  // namespace

Rounds contest(const std::vector<Contender>& contenders, const Protocol& protocol) {
  std::vector<std::int64_t> iterations(contenders.size());
  std::vector<std::size_t> order(contenders.size());
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    order[i] = i;
    iterations[i] = take_turn(contenders[i], 0, protocol.turn_seconds).iterations;
  }
  std::mt19937 random(17);
  Rounds rounds;
  for (int r = 0; r < protocol.rounds; ++r) {
    std::shuffle(order.begin(), order.end(), random);
    for (const auto i : order) {
      const auto turn = take_turn(contenders[i], iterations[i], protocol.turn_seconds);
      rounds[contenders[i].name].push_back(turn.mean.seconds);
      for (const auto& [part, seconds] : turn.mean.parts)
        rounds[contenders[i].name + ":" + part].push_back(seconds);
    }
  }
  return rounds;
}

}  // namespace hot::bench
