#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hot::models {

/// What a file that is no TorchScript model is, and what its owner can do.
struct Finding {
  std::string what;    ///< e.g. "an ONNX model"
  std::string advice;  ///< an order, e.g. "export the original model with …"
};

/// A TorchScript archive, as far as its names and small records tell; not yet verified.
struct TorchScriptFile {
  int version = 0;                   ///< the archive's format version
  std::uint64_t unpacked_bytes = 0;  ///< of all its records
  std::vector<std::string>
      packaged;  ///< for a torch.package: the ids of the TorchScript modules in it; else empty
  std::vector<std::string> notes;  ///< what is worth saying, one sentence each
};

/// How to get a file that this tool reads, in Python.
inline constexpr std::string_view kHowToExport =
    "torch.jit.trace(model.eval(), example_input).save(\"model.pt\")";

/// Tells from its first bytes what a file is; nothing for a zip archive and for what isn't known.
/// `head` holds the first bytes (512 are enough), `size` is the file's.
[[nodiscard]] std::optional<Finding> identify_bytes(std::string_view head, std::uintmax_t size);

/// Recognises a TorchScript archive without loading it (torchscript.md, section 4). Throws
/// ModelError for everything else, in one line: the path, what it is, what to do.
[[nodiscard]] TorchScriptFile recognise(const std::string& path);

}  // namespace hot::models
