#include "models/file/pickle_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>

#include "models/file/printable.hpp"

namespace hot::models {
namespace {

/// Walks over the opcodes of a pickle (protocols 2 to 5) without running any.
class PickleReader {
 public:
  explicit PickleReader(std::string_view pickle) : rest_(pickle) {}

  /// Calls `found` with module and name of each class or function that the pickle names, until it
  /// returns true; ends quietly where the text ends or an opcode is unknown.
  void globals(const std::function<bool(std::string_view, std::string_view)>& found) {
    std::array<std::string_view, 2> strings;  // the last two, which STACK_GLOBAL takes
    while (const auto opcode = take(1)) {
      const char code = opcode->front();
      if (code == 'c') {
        const auto module = line();
        const auto name = line();
        if (!module || !name || found(*module, *name)) return;
      } else if (code == '\x93') {
        if (found(strings[0], strings[1])) return;
      } else if (const int width = length_width(code); width > 0) {
        const auto length = take(static_cast<std::size_t>(width));
        const auto text = length ? take(number(*length)) : std::nullopt;
        if (!text) return;
        if (is_string(code)) strings = {strings[1], *text};
      } else {
        const int size = argument_size(code);
        if (size < 0 || !take(static_cast<std::size_t>(size))) return;
      }
    }
  }

 private:
  std::optional<std::string_view> take(std::size_t count) {
    if (count > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::optional<std::string_view> line() {
    const auto text = take(std::min(rest_.find('\n'), rest_.size()));
    return take(1) ? text : std::nullopt;
  }

  static std::size_t number(std::string_view bytes) {
    std::size_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return value;
  }

  static bool is_string(char code) {
    return std::string_view("XU\x8c\x8dT").find(code) != std::string_view::npos;
  }

  /// Bytes of the length that counted text, bytes and long integers start with; 0 for other
  /// opcodes.
  static int length_width(char code) {
    constexpr std::string_view one = "UC\x8c\x8a";
    constexpr std::string_view four = "XTB\x8b";
    constexpr std::string_view eight = "\x8d\x8e\x96";
    if (one.find(code) != std::string_view::npos) return 1;
    if (four.find(code) != std::string_view::npos) return 4;
    return eight.find(code) != std::string_view::npos ? 8 : 0;
  }

  /// Bytes of a fixed argument; -1 for an unknown opcode.
  static int argument_size(char code) {
    constexpr std::string_view none =
        "().0123]}NQRabdelosut\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x94\x97\x98";
    if (none.find(code) != std::string_view::npos) return 0;
    switch (code) {
      case '\x80':
      case 'K':
      case 'q':
      case 'h':
      case '\x82':
        return 1;
      case 'M':
      case '\x83':
        return 2;
      case 'J':
      case 'r':
      case 'j':
      case '\x84':
        return 4;
      case 'G':
      case '\x95':
        return 8;
      default:
        return -1;
    }
  }

  std::string_view rest_;
};

/// Modules whose names a pickle of plain tensors holds.
bool is_plain(std::string_view module) {
  constexpr std::array<std::string_view, 6> plain = {"torch",         "torch._utils",
                                                     "torch._tensor", "torch.serialization",
                                                     "torch.storage", "collections"};
  return std::find(plain.begin(), plain.end(), module) != plain.end();
}

struct Names {
  std::string first;    ///< of anything
  std::string foreign;  ///< of something that plain tensors don't need
};

Names names_in(std::string_view pickle) {
  Names names;
  PickleReader(pickle).globals([&](std::string_view module, std::string_view name) {
    const std::string whole = fmt::format("{}.{}", module, name);
    if (names.first.empty()) names.first = whole;
    if (!is_plain(module)) names.foreign = whole;
    return !names.foreign.empty();
  });
  return names;
}

}  // namespace

Finding identify_pickle(std::string_view pickle) {
  const Names names = names_in(pickle);
  const std::string export_it =
      fmt::format("load it into its model in Python and export that: {}", kHowToExport);
  const std::string data = "calibration data are given with --data";
  if (!names.foreign.empty()) {
    return {fmt::format("a whole Python object saved by torch.save (it needs {})",
                        printable(names.foreign)),
            fmt::format("load it in Python and export the model: {}", kHowToExport)};
  }
  const std::string_view start = pickle.substr(pickle.starts_with('\x80') ? 2 : 0);
  if (start.starts_with('}')) {
    return {"a dictionary saved by torch.save (a checkpoint or data)",
            fmt::format("{}; {}", export_it, data)};
  }
  if (start.starts_with('c') && names.first == "collections.OrderedDict") {
    return {"a state_dict saved by torch.save: weights without code", export_it};
  }
  if (start.starts_with('c')) return {"a tensor saved by torch.save", data};
  return {"Python values saved by torch.save", fmt::format("{}; {}", export_it, data)};
}

}  // namespace hot::models
