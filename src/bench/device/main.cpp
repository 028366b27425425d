// hot-device-bench: a GPU's figures beside what they are to reach; one line each.
#include <ATen/Context.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/device/cases.hpp"
#include "core/errors.hpp"
#include "device/choose.hpp"

namespace hot::bench {
namespace {

constexpr double kTimesBf16 = 1.9;
constexpr double kTimesFp32 = 2.6;

struct Arguments {
  std::string device = "cuda";
  std::string json;
  double seconds = 0.3;  ///< of one measurement, at most about
};

nlohmann::json json_of(const Figure& f) {
  return {{"group", f.group},
          {"what", f.what},
          {"value", f.value},
          {"aim", f.aim},
          {"reached", f.value >= f.aim},
          {"ours_ms", f.ours_ms},
          {"theirs_ms", f.theirs_ms},
          {"settled", f.settled},
          {"origin", "measured"}};
}

void run(const Arguments& arguments) {
  const c10::Device device = device::choose(arguments.device);
  if (device.is_cpu()) throw EnvironmentError("there is no GPU; scripts/bench measures CPUs");
  at::globalContext().setFloat32MatmulPrecision("highest");  // no TF32
  device::Protocol protocol;
  protocol.seconds = arguments.seconds;
  nlohmann::json figures = nlohmann::json::array();
  const auto show = [&](const Figure& figure) {
    fmt::print("{}\n", figure.line());
    std::fflush(stdout);
    figures.push_back(json_of(figure));
  };
  for (const std::int64_t mebibytes : {64, 256})
    for (const Figure& f : pass_figures(device, mebibytes << 20, protocol)) show(f);
  const auto layers = [&](const std::vector<LayerSize>& sizes, bool bf16, double aim,
                          const std::string& what) {
    std::vector<Figure> all;
    for (const LayerSize& size : sizes) {
      all.push_back(layer_figure(device, size, bf16, aim, protocol));
      show(all.back());
    }
    show(together(all, what));
  };
  layers(feed_forward_layers(), true, kTimesBf16,
         "whole layer backward, rows 15,872, hidden 4,096, FFN 16,384");
  layers(vit_layers(), false, kTimesFp32, "whole layer backward, ViT-B/16 shapes, 50,432 rows");
  if (arguments.json.empty()) return;
  std::ofstream file(arguments.json);
  file << nlohmann::json{{"schema", "hot-device-bench.v1"}, {"figures", figures}}.dump(1) << '\n';
  if (!file) throw EnvironmentError(fmt::format("{} can't be written", arguments.json));
}

}  // namespace
}  // namespace hot::bench

int main(int argc, char** argv) {
  hot::bench::Arguments arguments;
  CLI::App app("Measures fused passes and whole layer backward passes on a GPU by CUDA events.");
  app.add_option("--device", arguments.device, "cuda or cuda:INDEX")->capture_default_str();
  app.add_option("--json", arguments.json, "file of the figures");
  app.add_option("--seconds", arguments.seconds, "of one measurement, at most about")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    hot::bench::run(arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hot-device-bench: {}\n", error.what());
    return static_cast<int>(hot::ExitCode::environment);
  }
}
