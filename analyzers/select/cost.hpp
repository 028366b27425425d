#pragma once

#include <set>

#include "core/layer_trace.hpp"
#include "core/scheme.hpp"

namespace hot::select {

/// Modelled work of one gradient by `scheme`, relative to its exact FP32 products (1 = the same,
/// over 1 = not worth it).
///
///     product   kept/k · bits/32                              kept: rank of every zero-padded
///     block; 1 for no format operands  passes · (touch + log2 n) · (m + n) · padded k each pass
///     transforms anew, nothing is stored result    touch · m · n int32 to float with scales,
///     integers alone
///
/// with the last two in float operations of the exact GEMM, divided by its 2·m·n·k. There are two
/// passes over the operands of an integer product (largest magnitude; round and store) and one over
/// those of a float product. `touch` is what loading, comparing or rounding and storing an element
/// takes. Shapes that a path ran are weighted by their FLOPs. Int4 counts as half of int8: what a
/// machine with units for it reaches; where it runs unpacked, it costs int8.
[[nodiscard]] double modelled_cost(const Scheme& scheme, const PathWork& work);

/// Modelled bytes that forward keeps of a layer's input for grad_weight by `scheme`, relative to
/// the input in FP32: the projected operand in int8 (int4 is kept unpacked) or, without a format,
/// in FP32. Of a convolution the unfolded operand (an upper bound for strides over 1) or the input
/// itself is kept, whichever is smaller (methods.md, section 3).
[[nodiscard]] double modelled_saved_fraction(const Scheme& scheme, const LayerTrace& layer);

/// FP32 bytes of the inputs that grad_weight needs, over all calls; inputs that layers share count
/// for each of them.
[[nodiscard]] double input_bytes(const LayerTrace& layer);

/// While alive, products of these formats count as INT8's in modelled_cost(): the GPU that is
/// planned for has no instructions of theirs, so that no plan claims speed for them. One at a time.
class EmulatedFormats {
 public:
  explicit EmulatedFormats(std::set<Format> formats);
  ~EmulatedFormats();
  EmulatedFormats(const EmulatedFormats&) = delete;
  EmulatedFormats& operator=(const EmulatedFormats&) = delete;
};

}  // namespace hot::select
