#include <cupti.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include "kernels/activity.hpp"
#include "kernels/cuda/cupti/records.hpp"
#include "kernels/cuda/library.hpp"

namespace hot::kernels {
namespace {

constexpr std::size_t kBufferBytes = 8 << 20;
constexpr std::size_t kBufferAlignment = 8;

constexpr std::array kKinds = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                               CUPTI_ACTIVITY_KIND_RUNTIME,
                               CUPTI_ACTIVITY_KIND_DRIVER,
                               CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                               CUPTI_ACTIVITY_KIND_MEMCPY,
                               CUPTI_ACTIVITY_KIND_MEMSET,
                               CUPTI_ACTIVITY_KIND_MEMORY2};

/// What this program calls of CUPTI.
struct Cupti {
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityRegisterCallbacks) callbacks;
  decltype(&cuptiActivityFlushAll) flush;
  decltype(&cuptiActivityGetNextRecord) next;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped;
  decltype(&cuptiActivityPushExternalCorrelationId) push;
  decltype(&cuptiActivityPopExternalCorrelationId) pop;
  decltype(&cuptiGetResultString) text;

  Cupti() {
    const Library library("libcupti.so." + std::to_string(CUDA_VERSION / 1000));
    const auto find = [&]<class F>(F*& to, const char* name) { to = library.function(name, to); };
    find(enable, "cuptiActivityEnable");
    find(disable, "cuptiActivityDisable");
    find(callbacks, "cuptiActivityRegisterCallbacks");
    find(flush, "cuptiActivityFlushAll");
    find(next, "cuptiActivityGetNextRecord");
    find(dropped, "cuptiActivityGetNumDroppedRecords");
    find(push, "cuptiActivityPushExternalCorrelationId");
    find(pop, "cuptiActivityPopExternalCorrelationId");
    find(text, "cuptiGetResultString");
  }

  [[nodiscard]] std::string why(CUptiResult result) const {
    const char* words = nullptr;
    text(result, &words);
    std::string why = std::string("CUPTI: ") + (words == nullptr ? "unknown error" : words);
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
      why += "; the driver lets only administrators profile (NVreg_RestrictProfilingToAdminUsers)";
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ||
        result == CUPTI_ERROR_HARDWARE_BUSY)
      why += "; another profiler is attached";
    return why;
  }

  static const Cupti& get() {
    static const Cupti cupti;
    return cupti;
  }
};

// CUPTI's callbacks take no context: the running session's records are here.
std::mutex mutex;
ActivityRecords* records = nullptr;
std::size_t dropped_records = 0;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t /*size*/, std::size_t valid) {
  const Cupti& cupti = Cupti::get();
  const std::scoped_lock lock(mutex);
  CUpti_Activity* record = nullptr;
  while (records != nullptr && cupti.next(buffer, valid, &record) == CUPTI_SUCCESS)
    records->add(*record);
  std::size_t lost = 0;
  if (cupti.dropped(context, stream, &lost) == CUPTI_SUCCESS) dropped_records += lost;
  std::free(buffer);
}

}  // namespace

struct ActivitySession::State {
  ActivityRecords found;
};

ActivitySession::ActivitySession() {
  try {
    const Cupti& cupti = Cupti::get();
    if (const CUptiResult failed = cupti.callbacks(give_buffer, take_buffer);
        failed != CUPTI_SUCCESS)
      throw std::runtime_error(cupti.why(failed));
    for (const CUpti_ActivityKind kind : kKinds) {
      const CUptiResult failed = cupti.enable(kind);
      if (failed == CUPTI_SUCCESS) continue;
      for (const CUpti_ActivityKind enabled : kKinds) (void)cupti.disable(enabled);
      throw std::runtime_error(cupti.why(failed));
    }
    state_ = std::make_unique<State>();
    const std::scoped_lock lock(mutex);
    records = &state_->found;
    dropped_records = 0;
  } catch (const std::runtime_error& error) {
    reason_ = error.what();
  }
}

ActivitySession::~ActivitySession() {
  if (state_) (void)stop();
}

void ActivitySession::push(std::uint64_t id) {
  if (state_) (void)Cupti::get().push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id);
}

void ActivitySession::pop() {
  std::uint64_t last = 0;
  if (state_) (void)Cupti::get().pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
}

std::vector<Activity> ActivitySession::stop() {
  if (!state_) return {};
  const Cupti& cupti = Cupti::get();
  (void)cupti.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const CUpti_ActivityKind kind : kKinds) (void)cupti.disable(kind);
  const std::scoped_lock lock(mutex);
  records = nullptr;
  dropped_ = dropped_records;
  std::vector<Activity> all = state_->found.take();
  state_.reset();
  return all;
}

}  // namespace hot::kernels
