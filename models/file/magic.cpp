// The first bytes of files that are passed by mistake.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "models/file/sniff.hpp"

namespace hot::models {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
  std::string_view advice;
};

constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kExport;  // export the original model instead
constexpr std::string_view kGiveData = "calibration data are given with --data";

constexpr std::array kSignatures = {
    Signature{0, "version https://git-lfs"sv, "a Git LFS pointer, not the file that it stands for",
              "fetch the file with: git lfs pull"},
    Signature{0, "\x80\x02\x8a\x0a\x6c\xfc"sv,
              "a pickle in the old format of torch.save (a state_dict or a whole pickled module)",
              kExport},
    Signature{4, "PTMF"sv, "a flatbuffer model for PyTorch's mobile interpreter",
              "save the same module with module.save(\"model.pt\")"},
    Signature{4, "ET12"sv, "an ExecuTorch program", kExport},
    Signature{4, "TFL3"sv, "a TensorFlow Lite model", kExport},
    Signature{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras weights or data)", kExport},
    Signature{0, "\x93NUMPY"sv, "a NumPy array", kGiveData},
    Signature{0, "GGUF"sv, "a GGUF model of llama.cpp", kExport},
    Signature{0, "\x1f\x8b"sv, "a gzip archive", kUnpack},
    Signature{0, "BZh"sv, "a bzip2 archive", kUnpack},
    Signature{0,
              "\xfd"
              "7zXZ\0"sv,
              "an xz archive", kUnpack},
    Signature{0, "\x28\xb5\x2f\xfd"sv, "a zstd archive", kUnpack},
    Signature{0, "7z\xbc\xaf\x27\x1c"sv, "a 7-zip archive", kUnpack},
    Signature{0, "Rar!"sv, "a RAR archive", kUnpack},
    Signature{257, "ustar"sv, "a tar archive", kUnpack},
    Signature{0,
              "\x7f"
              "ELF"sv,
              "a program or shared library",
              "operators are given with --load-library; a compiled model (AOTInductor) cannot be "
              "trained"},
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

bool is_safetensors(std::string_view head, std::uintmax_t size) {
  return head.size() > 10 && (head.substr(8, 2) == "{\"" || head.substr(8, 2) == "{}") &&
         little_endian(head.substr(0, 8)) + 8 <= size;
}

/// A protocol buffer that starts with ir_version, then another field of ModelProto.
bool is_onnx(std::string_view head) {
  constexpr std::string_view next = "\x12\x1a\x22\x28\x32\x3a\x42";
  return head.size() > 3 && head[0] == '\x08' && head[1] > 0 && head[1] < 0x20 &&
         next.find(head[2]) != std::string_view::npos;
}

bool is_pickle(std::string_view head) {
  return head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

bool is_web_page(std::string_view head) {
  std::string start(head.substr(0, 256));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const std::size_t first = start.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string::npos &&
         (start.compare(first, 9, "<!doctype") == 0 || start.compare(first, 5, "<html") == 0);
}

bool is_text(std::string_view head) {
  const auto is_binary = [](unsigned char c) { return c < 0x20 && std::isspace(c) == 0; };
  const auto is_ascii = [](unsigned char c) { return c < 0x80; };
  return std::none_of(head.begin(), head.end(), is_binary) &&
         2 * std::count_if(head.begin(), head.end(), is_ascii) > std::ssize(head);
}

std::string export_instead() {
  return fmt::format("export the original model in Python: {}", kHowToExport);
}

}  // namespace

std::optional<Finding> identify_bytes(std::string_view head, std::uintmax_t size) {
  if (size == 0) return Finding{"an empty file", "copy or export it again"};
  for (const Signature& signature : kSignatures) {
    if (head.size() >= signature.offset + signature.bytes.size() &&
        head.substr(signature.offset, signature.bytes.size()) == signature.bytes) {
      return Finding{std::string(signature.what), signature.advice == kExport
                                                      ? export_instead()
                                                      : std::string(signature.advice)};
    }
  }
  if (is_safetensors(head, size)) {
    return Finding{"a safetensors file: weights without code", export_instead()};
  }
  if (is_onnx(head)) return Finding{"an ONNX model", export_instead()};
  if (is_pickle(head)) return Finding{"a Python pickle", export_instead()};
  if (is_web_page(head))
    return Finding{"a web page", "the download went wrong: fetch the file itself"};
  if (head.substr(0, 2) == "PK") return std::nullopt;
  if (std::all_of(head.begin(), head.end(), [](char c) { return c == 0; })) {
    return Finding{"a file full of zeros", "the copy or download is incomplete: fetch it again"};
  }
  if (is_text(head))
    return Finding{"a text file", fmt::format("give a TorchScript file: {}", kHowToExport)};
  return std::nullopt;
}

}  // namespace hot::models
