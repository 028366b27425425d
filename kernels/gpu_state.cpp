#include "kernels/gpu_state.hpp"

#include <dlfcn.h>

#include <array>

namespace hot::kernels {
namespace {

// NVML's interface is stable; its header comes with no package that this program needs.
using Device = void*;
constexpr int kSmClock = 1, kMemoryClock = 2, kTemperature = 0;

/// A function of the library; does nothing and fails where it isn't there.
template <class... Args>
class Call {
 public:
  Call(void* library, const char* name)
      : function_(library == nullptr ? nullptr
                                     : reinterpret_cast<int (*)(Args...)>(dlsym(library, name))) {}
  [[nodiscard]] bool operator()(Args... args) const {
    return function_ != nullptr && function_(args...) == 0;
  }

 private:
  int (*function_)(Args...);
};

/// NVML, started; it is never closed.
void* started(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_NOW);
  return Call<>(library, "nvmlInit_v2")() ? library : nullptr;
}

struct Reason {
  std::uint64_t bit;
  const char* phrase;
};
constexpr std::array kReasons = {Reason{0x04, "power limit"},
                                 Reason{0x08, "hardware slowdown"},
                                 Reason{0x10, "synchronized boost"},
                                 Reason{0x20, "thermal limit (software)"},
                                 Reason{0x40, "thermal limit (hardware)"},
                                 Reason{0x80, "power brake"}};

}  // namespace

std::vector<std::string> throttle_reasons(std::uint64_t bits) {
  std::vector<std::string> reasons;
  for (const Reason& reason : kReasons)
    if ((bits & reason.bit) != 0) reasons.emplace_back(reason.phrase);
  return reasons;
}

std::optional<GpuState> gpu_state(const std::string& bus, const std::string& library_name) {
  void* library = started(library_name);
  Device device = nullptr;
  if (!Call<const char*, Device*>(library, "nvmlDeviceGetHandleByPciBusId_v2")(bus.c_str(),
                                                                               &device))
    return std::nullopt;
  const Call<Device, int, unsigned*> clock(library, "nvmlDeviceGetClockInfo");
  unsigned sm = 0;
  unsigned memory = 0;
  unsigned celsius = 0;
  if (!clock(device, kSmClock, &sm) || !clock(device, kMemoryClock, &memory)) return std::nullopt;
  GpuState state{static_cast<int>(sm), static_cast<int>(memory), 0, {}};
  if (Call<Device, int, unsigned*>(library, "nvmlDeviceGetTemperature")(device, kTemperature,
                                                                        &celsius))
    state.celsius = static_cast<int>(celsius);
  unsigned long long bits = 0;
  using Reasons = Call<Device, unsigned long long*>;
  if (Reasons(library, "nvmlDeviceGetCurrentClocksEventReasons")(device, &bits) ||
      Reasons(library, "nvmlDeviceGetCurrentClocksThrottleReasons")(device, &bits))
    state.throttled = throttle_reasons(bits);
  return state;
}

std::string driver_version(const std::string& library) {
  char text[80] = "";
  return Call<char*, unsigned>(started(library), "nvmlSystemGetDriverVersion")(text, sizeof(text))
             ? text
             : "";
}

}  // namespace hot::kernels
