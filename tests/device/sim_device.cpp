#include "kernels/sim/block.hpp"
#include "kernels/sim/memory.hpp"
#include "tests/device/memory.hpp"

namespace hot::kernels {

const TestDevice& test_device() {
  static const TestDevice device{
      sim_passes(),
      sim::allocate,
      sim::release,
      [](void* to, const void* from, std::size_t bytes) {
        if (bytes != 0) std::memcpy(to, from, bytes);
      },
      {"ascending", "descending"},
      [](const std::string& variant) {
        sim::set_turns(variant == "ascending" ? sim::Turns::ascending : sim::Turns::descending);
      }};
  return device;
}

}  // namespace hot::kernels
