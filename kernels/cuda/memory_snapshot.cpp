#include "kernels/memory_snapshot.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "kernels/cuda/library.hpp"

namespace hot::kernels {
namespace {

// Functions of torch/csrc/cuda/memory_snapshot.h. The program doesn't link LibTorch's CUDA side, so
// that runs on a CPU don't load it; names are those of the Itanium C++ ABI.
using RecordHistory = void(std::optional<std::string> enabled, std::optional<std::string> context,
                           const std::string& stacks, std::size_t max_entries, bool clear_history,
                           bool compile_context, bool all_recordings,
                           const std::vector<std::string>& skip_actions, bool pinned, bool cuda);
using Snapshot = std::string();
constexpr const char* kRecordHistory =
    "_ZN5torch4cuda22_record_memory_historyESt8optionalINSt7__cxx1112basic_"
    "stringIcSt11char_traitsIcESaIcEEEES8_RKS7_mbbbRKSt6vectorIS7_SaIS7_EEbb";
constexpr const char* kSnapshot = "_ZN5torch4cuda24_memory_snapshot_pickledB5cxx11Ev";

/// Calls `act` with LibTorch's CUDA side; what fails in it is an EnvironmentError of one line.
template <class Act>
auto with_torch(const Act& act) {
  try {
    static const Library torch("libtorch_cuda.so");
    return act(torch);
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    throw EnvironmentError(
        fmt::format("LibTorch gives no memory snapshot: {}", what.substr(0, what.find('\n'))));
  }
}

void record(bool on) {
  with_torch([&](const Library& torch) {
    const auto all = on ? std::optional<std::string>("all") : std::nullopt;
    constexpr RecordHistory* like = nullptr;
    // "python" leaves C++ frames out, whose names take minutes to find.
    torch.function(kRecordHistory, like)(all, "all", "python", SIZE_MAX, on, false, false, {},
                                         false, true);
  });
}

}  // namespace

MemoryHistory::MemoryHistory() {
  record(true);
}

MemoryHistory::~MemoryHistory() {
  try {
    record(false);
  } catch (const EnvironmentError&) {
    return;  // it began; nothing depends on its end
  }
}

std::string memory_snapshot() {
  return with_torch([](const Library& torch) {
    constexpr Snapshot* like = nullptr;
    return torch.function(kSnapshot, like)();
  });
}

}  // namespace hot::kernels
