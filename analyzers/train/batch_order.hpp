#pragma once

#include <cstdint>
#include <vector>

namespace hot::train {

/// Which minibatch each of `steps` steps takes: epoch after epoch a random order of 0 … batches −
/// 1, drawn by torch's randperm from a generator of its own (in Python: torch.randperm(batches,
/// generator=torch.Generator().manual_seed(seed)), again for every epoch).
[[nodiscard]] std::vector<std::int64_t> batch_order(std::int64_t batches, std::int64_t steps,
                                                    std::uint64_t seed);

}  // namespace hot::train
