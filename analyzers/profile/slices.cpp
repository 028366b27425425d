#include <map>
#include <utility>

#include "analyzers/profile/op_event.hpp"

namespace hot::profile {
namespace {

/// A slice under way, and those that ended inside it.
struct Open {
  const OpEvent* event = nullptr;
  std::vector<Slice> inside;
};

Slice slice_of(const OpEvent& event) {
  Slice slice;
  slice.name = readable_name(event.name, event.node);
  slice.site = event.site;
  slice.module = event.module;
  slice.phase = event.phase;
  slice.node = event.node;
  slice.paths = event.paths;
  slice.thread = event.thread;
  slice.begin = event.begin;
  slice.end = event.end;
  slice.own = event.seconds();
  slice.bytes = event.bytes;
  return slice;
}

/// True if all belong to one layer.
bool one_site(const std::vector<Slice>& slices) {
  for (const Slice& slice : slices) {
    if (slice.site < 0 || slice.site != slices.front().site) return false;
  }
  return !slices.empty();
}

/// What is no product inside a backward node belongs to the node.
void absorb(Slice& node, std::vector<Slice>& inside) {
  for (Slice& slice : inside) {
    if (slice.site >= 0) continue;
    node.own += slice.own;
    node.bytes += slice.bytes;
    slice.own = 0;
  }
}

/// The events of one thread, from the outside in.
class Nesting {
 public:
  explicit Nesting(std::vector<Slice>& slices) : slices_(slices) {}

  void add(const OpEvent& event) {
    while (static_cast<int>(open_.size()) > event.depth) close();
    open_.push_back({&event, {}});
  }
  void finish() {
    while (!open_.empty()) close();
  }

 private:
  void close() {
    Open open = std::move(open_.back());
    open_.pop_back();
    Slice slice = slice_of(*open.event);
    if (!slice.node && one_site(open.inside)) {
      slice.site = open.inside.front().site;
      for (Slice& inner : open.inside) {
        slice.paths |= inner.paths;
        inner.own = 0;
      }
    } else {
      for (const Slice& inner : open.inside) slice.own -= inner.end - inner.begin;
    }
    if (open_.empty()) return keep(std::move(slice), open.inside);
    auto& outer = open_.back().inside;
    if (slice.node || open.inside.empty() || slice.site >= 0) {
      outer.push_back(std::move(slice));
      return;
    }
    // What encloses both counts the time of this one as inside, once.
    for (Slice& inner : open.inside) outer.push_back(std::move(inner));
    slice.end = slice.begin + slice.own;
    outer.push_back(std::move(slice));
  }

  void keep(Slice slice, std::vector<Slice>& inside) {
    if (slice.node) absorb(slice, inside);
    slices_.push_back(std::move(slice));
    for (Slice& inner : inside) slices_.push_back(std::move(inner));
  }

  std::vector<Slice>& slices_;
  std::vector<Open> open_;
};

}  // namespace

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
  }
  return "?";
}

std::string readable_name(std::string_view name, bool node) {
  if (!node) return std::string(name);
  constexpr std::string_view kCustom = "CppNode<";
  if (const auto found = name.find(kCustom); found != std::string_view::npos && name.back() == '>')
    name = name.substr(found + kCustom.size(), name.size() - found - kCustom.size() - 1);
  // What stands before the last "::" outside of <> and () is where the class lives.
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') begin = i + 2;
  }
  return std::string(name.substr(begin));
}

std::vector<Slice> slices_of(const std::vector<OpEvent>& events) {
  std::vector<Slice> slices;
  std::map<int, Nesting> threads;
  for (const OpEvent& event : events) {
    if (event.slice) threads.try_emplace(event.thread, slices).first->second.add(event);
  }
  for (auto& [thread, nesting] : threads) nesting.finish();
  return slices;
}

}  // namespace hot::profile
