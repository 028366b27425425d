#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hot::bench {

/// Seconds of one run, and of named parts of it.
struct Times {
  double seconds = 0;
  std::map<std::string, double> parts;
};

/// Something that is timed beside others.
struct Contender {
  std::string name;
  std::function<Times()> run;  ///< runs it once and says how long what counts of it took
};

/// How contenders are compared: after a round for warming up, which isn't counted, `rounds` rounds
/// in each of which every contender has one turn, in an order drawn anew. A turn repeats run() for
/// about `turn_seconds`, the number fixed by the warm-up; once where it takes longer.
struct Protocol {
  int rounds = 10;
  double turn_seconds = 0.01;
};

/// Mean seconds of a run in each round, by contender; those of a part by "contender:part". A slow
/// spell of the machine meets all contenders of a round alike, so ratios are taken round by round.
using Rounds = std::map<std::string, std::vector<double>>;

/// Runs the contest through Google Benchmark (manual time). What run() throws goes through.
[[nodiscard]] Rounds contest(const std::vector<Contender>& contenders, const Protocol& protocol);

}  // namespace hot::bench
