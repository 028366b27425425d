#include "kernels/nvtx.hpp"

#include <nvtx3/nvToolsExt.h>

namespace hot::kernels {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("hot-analyze");
  return handle;
}

}  // namespace

void nvtx_push(const char* text) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  nvtxDomainRangePushEx(domain(), &attributes);
}

void nvtx_pop() {
  nvtxDomainRangePop(domain());
}

}  // namespace hot::kernels
