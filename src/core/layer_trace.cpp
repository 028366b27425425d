#include "core/layer_trace.hpp"

namespace hot {

const char* to_string(LayerKind kind) {
  switch (kind) {
    case LayerKind::linear:
      return "linear";
    case LayerKind::conv:
      return "conv";
    case LayerKind::conv_transpose:
      return "conv_transpose";
    case LayerKind::matmul:
      return "matmul";
    case LayerKind::attention:
      return "attention";
    case LayerKind::recurrent:
      return "recurrent";
    case LayerKind::other:
      return "other";
  }
  return "?";
}

}  // namespace hot
