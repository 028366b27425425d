#include "models/file/sniff.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/errors.hpp"
#include "models/file/zip_kind.hpp"

namespace hot::models {
namespace {

namespace fs = std::filesystem;

ModelError refuse(const std::string& path, const Finding& finding) {
  return ModelError(fmt::format("{}: this is {}; {}", path, finding.what, finding.advice));
}

Finding identify_folder(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path / "constants.pkl", ignored)) {
    return {"the folder of an unpacked TorchScript archive",
            "zip it with its folder: zip -0 -r model.pt FOLDER"};
  }
  if (fs::exists(path / "saved_model.pb", ignored))
    return {"a TensorFlow SavedModel",
            fmt::format("export the original model in Python: {}", kHowToExport)};
  return {"a directory", "give the model file in it"};
}

/// The first bytes of a regular file. Throws ModelError for whatever else the path may be.
std::string read_head(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    const std::string why = error ? error.message() : "No such file or directory";
    throw ModelError(fmt::format("{}: {}; check the path", path, why));
  }
  if (fs::is_directory(status)) throw refuse(path, identify_folder(path));
  if (!fs::is_regular_file(status)) {
    throw refuse(path, {"a pipe, socket or device", "write the model to a file first"});
  }
  std::ifstream file(path, std::ios::binary);
  std::string head(512, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (!file.is_open() || file.bad())
    throw ModelError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

int format_version(const std::string& path, const Archive& archive) {
  const std::string root = top_folder(archive);
  const std::string name = root + (archive.has(root + "version") ? "version" : ".data/version");
  const std::string text = archive.read(name, 32);
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || version < 0) {
    throw ModelError(
        fmt::format("{}: record {} holds no version number; export the file again", path, name));
  }
  return version;
}

}  // namespace

TorchScriptFile recognise(const std::string& path) {
  const std::string head = read_head(path);
  const std::uintmax_t size = fs::file_size(path);
  const std::unique_ptr<Archive> archive = size == 0 ? nullptr : Archive::open(path);
  if (!archive) {
    if (const auto finding = identify_bytes(head, size)) throw refuse(path, *finding);
    if (head.starts_with("PK")) {
      throw refuse(path, {"a zip archive whose end is missing",
                          "the copy or download is incomplete: fetch it again"});
    }
    throw refuse(path, {"no file of a known kind",
                        fmt::format("give a TorchScript file: {}", kHowToExport)});
  }
  if (const auto finding = identify_archive(*archive)) throw refuse(path, *finding);
  TorchScriptFile file;
  file.version = format_version(path, *archive);
  file.unpacked_bytes = archive->unpacked_bytes();
  file.packaged = packaged_modules(*archive);
  if (const int unchecked = archive->verify(); unchecked > 0) {
    file.notes.push_back(fmt::format(
        "{} records of the file carry no checksum, so damage there would not be noticed.",
        unchecked));
  }
  if (archive->has(top_folder(*archive) + "bytecode.pkl")) {
    file.notes.push_back(
        "The file was saved for the lite interpreter; its TorchScript code is used.");
  }
  return file;
}

}  // namespace hot::models
