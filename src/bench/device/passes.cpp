#include <ATen/ATen.h>
#include <fmt/format.h>

#include <functional>

#include "bench/device/cases.hpp"
#include "kernels/device_backend.hpp"

namespace hot::bench {
namespace {

using kernels::Along;
using kernels::DeviceMatrix;
using kernels::Element;
using kernels::ScaleGroup;

constexpr double kAim = 0.85;
constexpr std::int64_t kCols = 4096;

const Transform kHadamard{Transform::Kind::hadamard, 16, 16, Basis::sequency};
const Transform kLowRank{Transform::Kind::lowrank, 16, 8, Basis::sequency};

/// One pass over a matrix on the device, and the bytes that it must read and write.
struct Pass {
  std::string name;
  std::int64_t bytes;
  std::function<void()> run;
};

struct Types {
  const char* name;
  at::ScalarType torch;
  Element element;
};
constexpr Types kTypes[] = {{"f32", at::kFloat, Element::f32},
                            {"f16", at::kHalf, Element::f16},
                            {"bf16", at::kBFloat16, Element::bf16}};

class Passes {
 public:
  Passes(c10::Device device, std::int64_t bytes, const Types& type)
      : backend_(*kernels::backend_of(device)),
        stream_(backend_.enter(device)),
        type_(type),
        rows_(bytes / static_cast<std::int64_t>(c10::elementSize(type.torch)) / kCols),
        a_(at::randn({rows_, kCols}, at::device(device).dtype(type.torch))),
        scales_(at::ones({std::max(rows_, kCols)}, at::device(device).dtype(at::kFloat))),
        levels_(at::empty({rows_ * kCols}, at::device(device).dtype(at::kChar))) {}

  [[nodiscard]] std::vector<Pass> all() const {
    std::vector<Pass> passes;
    for (const Along along : {Along::cols, Along::rows}) {
      passes.push_back(abs_max(kHadamard, along));
      passes.push_back(quantize("transform + quantize", kHadamard, along, Format::int8, false));
      passes.push_back(
          quantize("transform + quantize + INT4 pack", kHadamard, along, Format::int4, true));
      passes.push_back(quantize("projection + quantize", kLowRank, along, Format::int8, false));
    }
    return passes;
  }

 private:
  [[nodiscard]] DeviceMatrix view() const {
    return {a_.const_data_ptr(), type_.element, rows_, kCols, kCols, 1};
  }
  [[nodiscard]] static const char* text(Along along) {
    return along == Along::cols ? "in rows" : "across rows";
  }

  [[nodiscard]] Pass abs_max(const Transform& transform, Along along) const {
    return {fmt::format("transform + abs-max {}", text(along)),
            static_cast<std::int64_t>(a_.nbytes()), [this, transform, along] {
              backend_.passes().transform_abs_max(stream_, view(), along, transform,
                                                  ScaleGroup::one,
                                                  scales_.mutable_data_ptr<float>());
            }};
  }

  [[nodiscard]] Pass quantize(const char* name, const Transform& transform, Along along,
                              Format format, bool packed) const {
    const auto layout = kernels::level_layout(rows_, kCols, along, transform, packed);
    return {fmt::format("{} {}", name, text(along)),
            static_cast<std::int64_t>(a_.nbytes()) + layout.bytes(),
            [this, transform, along, format, packed] {
              backend_.passes().transform_quantize(stream_, view(), along, transform, format,
                                                   ScaleGroup::one, scales_.const_data_ptr<float>(),
                                                   {Rounding::nearest, 0}, packed,
                                                   levels_.mutable_data_ptr<std::int8_t>());
            }};
  }

  const kernels::DeviceBackend& backend_;
  void* stream_;
  Types type_;
  std::int64_t rows_;
  at::Tensor a_, scales_, levels_;
};

}  // namespace

std::vector<Figure> pass_figures(c10::Device device, std::int64_t bytes,
                                 const device::Protocol& protocol) {
  const at::NoGradGuard no_grad;
  device::Clock& clock = device::clock_of(device);
  std::vector<Figure> figures;
  for (const Types& type : kTypes) {
    const Passes passes(device, bytes, type);
    for (const Pass& pass : passes.all()) {
      const at::Tensor from = at::zeros({pass.bytes / 2}, at::device(device).dtype(at::kByte));
      at::Tensor to = at::empty_like(from);
      const auto copy = device::time_steadily(
          clock, [&] { to.copy_(from); }, protocol);
      const auto ours = device::time_steadily(clock, pass.run, protocol);
      Figure figure;
      figure.group = "passes";
      figure.what = fmt::format("fused pass {}, {}, {} MiB", pass.name, type.name, bytes >> 20);
      figure.aim = kAim;
      figure.ours_ms = 1e3 * ours.seconds;
      figure.theirs_ms = 1e3 * copy.seconds;
      figure.value = copy.seconds / ours.seconds;
      figure.settled = copy.settled && ours.settled;
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace hot::bench
