#pragma once

#include <c10/core/Device.h>

#include <string>

namespace hot::device {

/// The device that --device names: auto (the first GPU, the CPU where there is none), cpu, cuda or
/// cuda:INDEX. For a GPU LibTorch's CUDA side is loaded, so this comes before any other use of
/// LibTorch. Throws EnvironmentError with the reason where there is no such GPU.
[[nodiscard]] c10::Device choose(const std::string& name);

/// Waits for everything that was put onto the device; nothing for the CPU.
void synchronize(c10::Device device);

}  // namespace hot::device
