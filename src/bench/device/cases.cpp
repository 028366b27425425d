#include "bench/device/cases.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "bench/presets.hpp"
#include "core/scheme.hpp"
#include "kernels/backward.hpp"

namespace hot::bench {

std::string Figure::line() const {
  const std::string figure =
      group == "passes"
          ? fmt::format("{:.1f} % of copy bandwidth (aim {:.0f} %)", 100 * value, 100 * aim)
          : fmt::format("{:.2f} times {} (aim {:.1f})", value,
                        group == "bf16" ? "BF16" : "FP32, TF32 off", aim);
  return fmt::format("{}: {}, {}{}", what, figure, value >= aim ? "reached" : "not reached",
                     settled ? "" : "; the interval stayed over 1 %");
}

Figure layer_figure(c10::Device device, const LayerSize& size, bool bf16, double aim,
                    const device::Protocol& protocol) {
  const at::NoGradGuard no_grad;
  device::Clock& clock = device::clock_of(device);
  const auto options = at::device(device).dtype(bf16 ? at::kBFloat16 : at::kFloat);
  const at::Tensor x = at::randn({size.rows, size.in}, options);
  const at::Tensor w = at::randn({size.out, size.in}, options);
  const at::Tensor gy = at::randn({size.rows, size.out}, options);
  const Preset& hot = kPresets.front();
  const Scheme input = parse_scheme(hot.grad_input);
  const Scheme weight = parse_scheme(hot.grad_weight);
  const auto theirs = device::time_steadily(
      clock, [&] { (void)at::mm(gy, w), (void)at::mm(gy.t(), x); }, protocol);
  const auto ours = device::time_steadily(
      clock,
      [&] {
        const kernels::Operand kept = kernels::prepare_x(x, weight);
        (void)kernels::grad_input(gy, w, input, 1);
        (void)kernels::grad_weight(gy, kept, weight, 2);
      },
      protocol);
  Figure figure;
  figure.group = bf16 ? "bf16" : "fp32";
  figure.what = fmt::format("layer backward {} ({} x {} x {}), {}", size.name, size.rows, size.out,
                            size.in, hot.name);
  figure.aim = aim;
  figure.ours_ms = 1e3 * ours.seconds;
  figure.theirs_ms = 1e3 * theirs.seconds;
  figure.value = theirs.seconds / ours.seconds;
  figure.settled = ours.settled && theirs.settled;
  return figure;
}

std::vector<LayerSize> feed_forward_layers() {
  return {{"up 4096 to 16384", 15872, 16384, 4096}, {"down 16384 to 4096", 15872, 4096, 16384}};
}

std::vector<LayerSize> vit_layers() {
  return {{"vit_b_16 qkv", 50432, 2304, 768},
          {"vit_b_16 proj", 50432, 768, 768},
          {"vit_b_16 fc1", 50432, 3072, 768},
          {"vit_b_16 fc2", 50432, 768, 3072}};
}

Figure together(const std::vector<Figure>& figures, const std::string& what) {
  Figure all = figures.front();
  all.what = what;
  all.ours_ms = all.theirs_ms = 0;
  for (const Figure& f : figures) {
    all.ours_ms += f.ours_ms;
    all.theirs_ms += f.theirs_ms;
    all.settled = all.settled && f.settled;
  }
  all.value = all.theirs_ms / all.ours_ms;
  return all;
}

}  // namespace hot::bench
