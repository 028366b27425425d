#include "kernels/memory_snapshot.hpp"

#include "core/errors.hpp"

namespace hot::kernels {
namespace {

constexpr const char* kReason = "no memory snapshot: this program was built without CUDA";

}  // namespace

MemoryHistory::MemoryHistory() {
  throw EnvironmentError(kReason);
}
MemoryHistory::~MemoryHistory() = default;

std::string memory_snapshot() {
  throw EnvironmentError(kReason);
}

}  // namespace hot::kernels
