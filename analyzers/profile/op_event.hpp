#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hot::profile {

/// Which half of a step runs.
enum class Phase { forward, backward, optimizer };

[[nodiscard]] const char* to_string(Phase phase);

/// One operation or backward node as RecordFunction tells it. Those of a thread are in order of
/// their begin, inner ones after the one that they run in.
struct OpEvent {
  std::string name;
  bool node = false;   ///< a node of the backward pass
  bool slice = false;  ///< has a time of its own: outermost, or a layer's product inside another
  int depth = 0;       ///< slices around it
  int site = -1;       ///< index into StepLog::sites(), -1 outside layers
  unsigned paths = 0;  ///< bits 1 << Path of the products that it runs
  std::string module;  ///< where no site is known; filled by deep logs alone
  Phase phase = Phase::forward;
  int thread = 0;
  double begin = 0;        ///< seconds since the log was made
  double end = 0;          ///< likewise
  std::int64_t bytes = 0;  ///< tensors read and written; deep logs alone, 0 for views

  [[nodiscard]] double seconds() const { return end - begin; }
};

/// An operation or a backward node that time belongs to.
struct Slice {
  std::string name;
  int site = -1;
  std::string module;
  Phase phase = Phase::forward;
  bool node = false;  ///< what runs inside it has its own slices
  unsigned paths = 0;
  int thread = 0;
  double begin = 0;
  double end = 0;
  double own = 0;  ///< seconds that belong to it and to no other slice
  std::int64_t bytes = 0;
};

/// A name for people of an operation or, where `node`, of a backward node: "ReplacedMatmul" of
/// "torch::autograd::CppNode<hot::backward::(anonymous namespace)::ReplacedMatmul>"; operations
/// keep theirs ("aten::mm").
[[nodiscard]] std::string readable_name(std::string_view name, bool node);

/// What the events of a step amount to: every second of them belongs to one slice. A composite of
/// one layer (aten::linear) belongs to it whole; what is no product inside a backward node belongs
/// to the node.
[[nodiscard]] std::vector<Slice> slices_of(const std::vector<OpEvent>& events);

}  // namespace hot::profile
