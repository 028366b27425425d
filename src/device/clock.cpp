#include "device/clock.hpp"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "kernels/devices.hpp"

namespace hot::device {
namespace {

class WallClock : public Clock {
 public:
  Mark now() override { return std::chrono::steady_clock::now(); }
  double seconds(const Mark& from, const Mark& to) override {
    using Point = std::chrono::steady_clock::time_point;
    return std::chrono::duration<double>(std::get<Point>(to) - std::get<Point>(from)).count();
  }
};

class EventClock : public Clock {
 public:
  explicit EventClock(c10::Device device) : device_(device) {}

  Mark now() override {
    auto event = std::make_shared<c10::Event>(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    event->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
    return event;
  }

  double seconds(const Mark& from, const Mark& to) override {
    const auto& end = std::get<std::shared_ptr<c10::Event>>(to);
    end->synchronize();
    return 1e-3 * std::get<std::shared_ptr<c10::Event>>(from)->elapsedTime(*end);
  }

  /// Writes twice the L2's size, so that nothing of the last repeat is left in it; and so much that
  /// the GPU is still busy with it when the timed work stands in its queue.
  void cool() override {
    if (!filler_.defined())
      filler_ = at::empty({2 * l2_bytes()}, at::device(device_).dtype(at::kByte));
    filler_.zero_();
  }

  [[nodiscard]] bool is_gpu() const override { return true; }

 private:
  [[nodiscard]] std::int64_t l2_bytes() const {
    const kernels::CudaDevices all = kernels::cuda_devices();
    const auto index = static_cast<std::size_t>(int{device_.index()});
    const std::int64_t bytes = index < all.devices.size() ? all.devices[index].l2_bytes : 0;
    return std::max<std::int64_t>(bytes, 128 << 20);
  }

  c10::Device device_;
  at::Tensor filler_;
};

}  // namespace

Clock& clock_of(c10::Device device) {
  static WallClock wall;
  if (device.is_cpu()) return wall;
  static std::mutex mutex;
  static auto& clocks = *new std::map<c10::DeviceIndex, std::unique_ptr<EventClock>>;
  const std::scoped_lock lock(mutex);
  auto& clock = clocks[device.index()];
  if (!clock) clock = std::make_unique<EventClock>(device);
  return *clock;
}

}  // namespace hot::device
