#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace hot::kernels::sim {

/// The order in which a block's threads get their turns between two barriers. A kernel that needs a
/// barrier where it has none gives different results in different orders.
enum class Turns { ascending, descending };
void set_turns(Turns turns);

/// Runs body(shared) once for each of `threads` threads of each of `blocks` blocks, one block after
/// the other; the threads of a block take turns at barriers and shuffles. `shared` is the block's
/// shared memory, filled with a pattern. Rethrows what a thread throws; throws std::logic_error
/// where some threads wait at a barrier that the others never reach.
void run_blocks(std::int64_t blocks, int threads, std::size_t shared_bytes,
                const std::function<void(char* shared)>& body);

/// Of the thread that runs now: its number in the block, and its block.
[[nodiscard]] int running_thread();
[[nodiscard]] std::int64_t running_block();

/// __syncthreads().
void block_sync();

/// __shfl_xor_sync of `bytes` bytes in all lanes of the warp.
void shuffle_bytes(const void* values, std::size_t bytes, int mask, void* other);

}  // namespace hot::kernels::sim
