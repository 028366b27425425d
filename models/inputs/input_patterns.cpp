#include "models/inputs/input_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>

#include "models/inputs/input_guess.hpp"
#include "models/inputs/shape_steps.hpp"
#include "models/inputs/typed_users.hpp"
#include "models/jit.hpp"

namespace hot::models {
namespace {

constexpr std::size_t kMaxValues = 4096;  ///< values followed from one input
constexpr int kRankOnly =
    2;  ///< strength of demands that tell no more than the number of dimensions

std::shared_ptr<torch::jit::Graph> inlined_copy(const Model& model) {
  auto graph = model.module.get_method(model.method).graph()->copy();
  inline_all(*graph);
  return graph;
}

/// Follows values through the graph; everything it visits is shown to `see`.
class Walk {
 public:
  using See = std::function<void(const torch::jit::Use&, const std::vector<Undo>&)>;
  Walk(GraphValues* values, See see) : values_(values), see_(std::move(see)) {}

  void from(torch::jit::Value* start) {
    push(start, {});
    while (!queue_.empty()) {
      const Place place = std::move(queue_.front());
      queue_.pop_front();
      for (const torch::jit::Use& use : place.value->uses()) {
        see_(use, place.undos);
        carry(use, place);
      }
    }
  }

 private:
  struct Place {
    torch::jit::Value* value;
    std::vector<Undo> undos;
  };

  void push(torch::jit::Value* value, std::vector<Undo> undos) {
    if (seen_.size() < kMaxValues && seen_.insert(value).second)
      queue_.push_back({value, std::move(undos)});
  }

  void carry(const torch::jit::Use& use, const Place& place) {
    torch::jit::Node* node = use.user;
    switch (node->kind()) {
      case c10::prim::Return: {
        torch::jit::Node* owner = node->owningBlock()->owningNode();
        if (owner == nullptr) return;
        // A loop's block returns its condition first.
        const std::size_t skip = owner->kind() == c10::prim::Loop ? 1 : 0;
        if (use.offset >= skip && use.offset - skip < owner->outputs().size()) {
          push(owner->output(use.offset - skip), place.undos);
        }
        return;
      }
      case c10::prim::Loop:
        if (use.offset >= 2) push(node->blocks()[0]->inputs()[use.offset - 1], place.undos);
        return;
      case c10::prim::fork: {
        auto* inner = node->g(c10::attr::Subgraph)->inputs()[use.offset];
        for (std::size_t i = 0; i < node->inputs().size(); ++i) {
          values_->link(node->g(c10::attr::Subgraph)->inputs()[i], node->input(i));
        }
        push(inner, place.undos);
        return;
      }
      default:
        break;
    }
    if (node->outputs().empty()) return;
    Undo undo = undo_of(node, use.offset, *values_);
    if (!undo) return;
    std::vector<Undo> undos = place.undos;
    undos.push_back(std::move(undo));
    push(node->output(0), std::move(undos));
  }

  GraphValues* values_;
  See see_;
  std::deque<Place> queue_;
  std::unordered_set<const torch::jit::Value*> seen_;
};

std::optional<Shape> undo_all(Shape shape, const std::vector<Undo>& undos) {
  std::optional<Shape> result = std::move(shape);
  for (auto undo = undos.rbegin(); result && undo != undos.rend(); ++undo)
    result = (*undo)(*result);
  return result;
}

/// Patterns of a tensor: the strongest demand's; those with the number of dimensions that the code
/// unpacks come first.
std::vector<Pattern> tensor_patterns(torch::jit::Value* value, GraphValues* values) {
  Demand best;
  std::optional<std::size_t> rank;
  Walk walk(values, [&](const torch::jit::Use& use, const std::vector<Undo>& undos) {
    Demand demand = demand_of(use.user, use.offset, *values);
    std::vector<Pattern> undone;
    for (Pattern& pattern : demand.patterns) {
      auto shape = undo_all(pattern.shape, undos);
      if (!shape) continue;
      pattern.shape = std::move(*shape);
      undone.push_back(std::move(pattern));
    }
    if (undone.empty()) return;
    if (demand.strength == kRankOnly && !rank) rank = undone[0].shape.size();
    if (demand.strength > best.strength) best = {demand.strength, std::move(undone)};
  });
  walk.from(value);
  if (rank) {
    std::stable_partition(best.patterns.begin(), best.patterns.end(),
                          [&](const Pattern& p) { return p.shape.size() == *rank; });
  }
  return best.patterns;
}

std::vector<Pattern> patterns_of(torch::jit::Value* value, const c10::TypePtr& type,
                                 GraphValues* values);

/// The first pattern of what `value` is, or a guess for Python scalars.
std::optional<Pattern> first_pattern(torch::jit::Value* value, const c10::TypePtr& type,
                                     GraphValues* values) {
  const auto patterns = patterns_of(value, type, values);
  if (!patterns.empty()) return patterns[0];
  return guess_scalar(value->debugName(), type);
}

std::vector<Pattern> tuple_patterns(torch::jit::Value* value, const c10::TupleType& type,
                                    GraphValues* values) {
  std::vector<std::optional<Pattern>> items(type.elements().size());
  Walk walk(values, [&](const torch::jit::Use& use, const std::vector<Undo>&) {
    torch::jit::Node* node = use.user;
    const auto note = [&](std::size_t i, torch::jit::Value* element) {
      if (i < items.size() && !items[i])
        items[i] = first_pattern(element, type.elements()[i], values);
    };
    if (node->kind() == c10::prim::TupleUnpack) {
      for (std::size_t i = 0; i < node->outputs().size(); ++i) note(i, node->output(i));
    } else if (node->kind() == c10::prim::TupleIndex && use.offset == 0) {
      const auto index = values->find_int(node->input(1));
      if (index && *index >= 0) note(static_cast<std::size_t>(*index), node->output());
    }
  });
  walk.from(value);
  Pattern pattern;
  pattern.kind = Pattern::Kind::tuple;
  for (auto& item : items) {
    if (!item) return {};
    pattern.items.push_back(std::move(*item));
  }
  return {pattern};
}

std::vector<Pattern> list_patterns(torch::jit::Value* value, const c10::ListType& type,
                                   GraphValues* values) {
  std::optional<Pattern> item;
  std::size_t count = 2;
  Walk walk(values, [&](const torch::jit::Use& use, const std::vector<Undo>&) {
    torch::jit::Node* node = use.user;
    if (node->kind() == c10::prim::ListUnpack) count = node->outputs().size();
    const bool reads = node->kind() == c10::prim::ListUnpack ||
                       (node->kind() == c10::aten::__getitem__ && use.offset == 0);
    if (node->kind() == c10::aten::__getitem__ && use.offset == 0) {
      const auto index = values->find_int(node->input(1));
      if (index && *index >= 0) count = std::max(count, static_cast<std::size_t>(*index) + 1);
    }
    if (reads && !item && !node->outputs().empty()) {
      item = first_pattern(node->output(0), type.getElementType(), values);
    }
  });
  walk.from(value);
  if (!item) return {};
  Pattern pattern;
  pattern.kind = Pattern::Kind::list;
  pattern.items.assign(count, *item);
  return {pattern};
}

std::vector<Pattern> dict_patterns(torch::jit::Value* value, const c10::DictType& type,
                                   GraphValues* values) {
  Pattern pattern;
  pattern.kind = Pattern::Kind::dict;
  bool known = true;
  Walk walk(values, [&](const torch::jit::Use& use, const std::vector<Undo>&) {
    if (use.user->kind() != c10::aten::__getitem__ || use.offset != 0) return;
    const auto key = values->find(use.user->input(1));
    if (!key || !(key->isString() || key->isInt())) {
      known = false;
      return;
    }
    const std::string text = key->isString() ? key->toStringRef() : std::to_string(key->toInt());
    if (std::find(pattern.keys.begin(), pattern.keys.end(), text) != pattern.keys.end()) return;
    auto item = first_pattern(use.user->output(), type.getValueType(), values);
    known = known && item.has_value();
    if (!item) return;
    pattern.keys.push_back(text);
    pattern.items.push_back(std::move(*item));
  });
  walk.from(value);
  if (!known || pattern.items.empty()) return {};
  return {pattern};
}

std::vector<Pattern> patterns_of(torch::jit::Value* value, const c10::TypePtr& type,
                                 GraphValues* values) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      return patterns_of(value, type->expectRef<c10::OptionalType>().getElementType(), values);
    case c10::TypeKind::TensorType:
      return tensor_patterns(value, values);
    case c10::TypeKind::TupleType:
      return tuple_patterns(value, type->expectRef<c10::TupleType>(), values);
    case c10::TypeKind::ListType:
      return list_patterns(value, type->expectRef<c10::ListType>(), values);
    case c10::TypeKind::DictType:
      return dict_patterns(value, type->expectRef<c10::DictType>(), values);
    default:
      return {};
  }
}

}  // namespace

InputPatterns::InputPatterns(const Model& model)
    : graph_(inlined_copy(model)), values_(model.module, *graph_) {
  for (const at::Tensor& tensor : model.module.parameters()) tables_.push_back(tensor);
  for (const at::Tensor& tensor : model.module.buffers()) tables_.push_back(tensor);
}

std::vector<Pattern> InputPatterns::of(std::size_t argument) const {
  if (argument + 1 >= graph_->inputs().size()) return {};
  torch::jit::Value* value = graph_->inputs()[argument + 1];
  GraphValues values = values_;
  return patterns_of(value, value->type(), &values);
}

std::vector<std::int64_t> InputPatterns::suggested_sizes() const {
  std::vector<std::int64_t> sizes;
  const auto add = [&](std::int64_t size) {
    if (size > 1 && size <= 4096 && std::find(sizes.begin(), sizes.end(), size) == sizes.end()) {
      sizes.push_back(size);
    }
  };
  std::int64_t patch = 0;  // side of the first square convolution that does not overlap
  for (const at::Tensor& t : tables_) {
    if (patch == 0 && t.dim() == 4 && t.size(2) == t.size(3) && t.size(2) >= 4) patch = t.size(2);
  }
  for (const at::Tensor& t : tables_) {
    if (t.dim() != 3 || t.size(0) != 1) continue;
    const std::int64_t positions = t.size(1);
    for (const std::int64_t extra : {0, 1, 2}) {
      const auto side = static_cast<std::int64_t>(
          std::llround(std::sqrt(static_cast<double>(positions - extra))));
      if (patch > 0 && positions > extra + 1 && side * side == positions - extra) add(side * patch);
    }
    add(positions);
    add(2 * positions);
  }
  return sizes;
}

}  // namespace hot::models
