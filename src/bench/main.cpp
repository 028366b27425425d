#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/cases.hpp"
#include "bench/facts.hpp"
#include "core/errors.hpp"
#include "cpu_info.hpp"

namespace hot::bench {
namespace {

nlohmann::json measure(const Options& options, const std::vector<Case>& chosen) {
  nlohmann::json results = {{"schema", "hot-bench.v1"}, {"environment", facts()}};
  results["environment"]["rounds"] = options.protocol.rounds;
  results["kernels"] = nlohmann::json::array();
  results["layers"] = nlohmann::json::array();
  const OtherLoad others;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    fmt::print(stderr, "{}/{} {}\n", i + 1, chosen.size(), chosen[i].name);
    const bool kernels = chosen[i].name.rfind("kernels/", 0) == 0;
    results[kernels ? "kernels" : "layers"].push_back(chosen[i].run());
  }
  results["environment"]["other_load"] = others.share();
  return results;
}

void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << '\n' << std::flush;
    return;
  }
  std::ofstream file(path);
  file << text << '\n';
  file.close();
  if (!file) throw EnvironmentError(fmt::format("{} can't be written", path));
}

int run(int argc, char** argv) {
  const auto parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  const auto& options = *parsed.options;
  const auto chosen = cases(options);
  if (options.list) {
    for (const auto& c : chosen) fmt::print("{}\n", c.name);
    return 0;
  }
  if (chosen.empty()) throw UsageError("no case has this name; --list names them");
  at::set_num_threads(options.threads > 0 ? options.threads : cpu_info().cores);
  at::manual_seed(1);
  write(options.json, measure(options, chosen).dump(1));
  return 0;
}

}  // namespace
}  // namespace hot::bench

int main(int argc, char** argv) {
  try {
    return hot::bench::run(argc, argv);
  } catch (const hot::UsageError& error) {
    fmt::print(stderr, "hot-bench: {}\n", error.what());
    return static_cast<int>(hot::ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "hot-bench: {}\n", error.what());
    return static_cast<int>(hot::ExitCode::environment);
  }
}
