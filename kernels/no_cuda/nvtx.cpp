#include "kernels/nvtx.hpp"

namespace hot::kernels {

void nvtx_push(const char* /*text*/) {}
void nvtx_pop() {}

}  // namespace hot::kernels
