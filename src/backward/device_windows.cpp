#include "backward/device_windows.hpp"

#include <ATen/ATen.h>

namespace hot::backward {

at::Tensor unfold_on_device(const at::Tensor& pixels, const WindowRuns& runs) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const std::int64_t channels = pixels.size(1);
  const std::int64_t samples = runs.pixels() == 0 ? 0 : pixels.size(0) / runs.pixels();
  at::Tensor padded = at::zeros({samples, runs.pixels() + 1, channels}, pixels.options());
  padded.narrow(1, 0, runs.pixels()).copy_(pixels.reshape({samples, runs.pixels(), channels}));
  return padded.index_select(1, runs.table(pixels.device()).view({-1}))
      .view({samples * runs.positions(), runs.places() * channels});
}

at::Tensor fold_on_device(const at::Tensor& rows, const WindowRuns& runs) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const std::int64_t channels = rows.size(1) / runs.places();
  const std::int64_t samples = runs.positions() == 0 ? 0 : rows.size(0) / runs.positions();
  at::Tensor padded = at::zeros({samples, runs.pixels() + 1, channels}, rows.options());
  const at::Tensor by_place = rows.reshape({samples, runs.positions(), runs.places(), channels});
  const at::Tensor table = runs.table(rows.device());
  for (std::int64_t place = runs.places() - 1; place >= 0; --place)
    padded.index_add_(1, table.select(1, place).contiguous(), by_place.select(2, place));
  return padded.narrow(1, 0, runs.pixels()).reshape({samples * runs.pixels(), channels});
}

}  // namespace hot::backward
