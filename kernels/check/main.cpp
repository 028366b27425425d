// golden-check FILE…: runs golden files through the project's arithmetic and prints how far it is
// from them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "core/errors.hpp"
#include "kernels/backward.hpp"
#include "kernels/check/golden_check.hpp"

namespace hot::kernels {
namespace {

std::string line_of(const Deviation& d) {
  std::string line = fmt::format("  {:<46}{:>9.1e}", d.name, d.result);
  if (d.metrics)
    line += fmt::format("{:>9.1e}{:>9.1e}{:>9.1e}{:>9.1e}", d.metrics->relative_error,
                        d.metrics->cosine, d.metrics->sqnr, d.metrics->max_abs_error);
  if (!d.comment.empty()) line += "  " + d.comment;
  return d.within() ? line : line + "  OUTSIDE";
}

/// True if everything in the file is within the tolerance.
bool print_file(const std::string& path) {
  const std::vector<Deviation> deviations = check_golden(read_golden(path));
  fmt::print("{}\n  {:<46}{:>9}{:>9}{:>9}{:>9}{:>9}\n", path, "deviation of", "result", "rel_err",
             "cosine", "sqnr", "max_abs");
  double worst = 0;
  std::size_t outside = 0;
  for (const Deviation& d : deviations) {
    fmt::print("{}\n", line_of(d));
    worst = std::max(worst, d.largest());
    if (!d.within()) ++outside;
  }
  fmt::print("  {} of {} within {:.0e}; the largest deviation is {:.1e}\n\n",
             deviations.size() - outside, deviations.size(), kGoldenTolerance, worst);
  return outside == 0;
}

int run(const std::vector<std::string>& paths) {
  fmt::print("CPU backend: {}; integer products: {}\n", cpu_ops().name, integer_gemm_route());
  fmt::print(
      "result: largest |difference| / largest magnitude; sqnr: as the ratio of error to "
      "signal\n\n");
  bool within = true;
  for (const std::string& path : paths) within = print_file(path) && within;
  return static_cast<int>(within ? ExitCode::done : ExitCode::check_failed);
}

}  // namespace
}  // namespace hot::kernels

int main(int argc, char** argv) {
  CLI::App app(
      "Runs golden files through the project's arithmetic; exits with 1 where it is outside the "
      "tolerance.",
      "golden-check");
  std::vector<std::string> paths;
  app.add_option("FILE", paths, "backward_*.json or basis.json")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(hot::ExitCode::usage);
  }
  try {
    return hot::kernels::run(paths);
  } catch (const hot::Error& error) {
    std::fflush(stdout);
    fmt::print(stderr, "golden-check: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
