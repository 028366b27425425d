#include "models/file/zip_kind.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/file/pickle_kind.hpp"
#include "models/file/printable.hpp"

namespace hot::models {
namespace {

bool any_name(const Archive& archive, auto&& test) {
  const auto& records = archive.records();
  return std::any_of(records.begin(), records.end(),
                     [&](const Record& record) { return test(record.name); });
}

bool has_folder(const Archive& archive, const std::string& folder) {
  return any_name(archive, [&](const std::string& name) { return name.starts_with(folder); });
}

Finding python_archive(std::string what) {
  return {std::move(what), fmt::format("load it in Python and export the model: {}", kHowToExport)};
}

/// What a TorchScript archive lacks; nothing if it is whole.
std::optional<Finding> missing_part(const Archive& archive, const std::string& root) {
  std::string part;
  if (!archive.has(root + "version") && !archive.has(root + ".data/version")) part = "version";
  if (!has_folder(archive, root + "code/")) part = "code";
  for (const char* record : {"data.pkl", "constants.pkl"}) {
    if (!archive.has(root + record)) part = record;
  }
  if (part.empty()) return std::nullopt;
  return Finding{fmt::format("a TorchScript archive whose {} is missing", part),
                 "export it again with module.save(\"model.pt\")"};
}

/// An archive of torch.save, torch.export or torch.package, below its top folder; nothing if it is
/// none.
std::optional<Finding> identify_torch_archive(const Archive& archive, const std::string& root) {
  const auto has = [&](const std::string& name) { return archive.has(root + name); };
  if (has("models/model.json") || has("archive_format") ||
      has("serialized_exported_program.json") || has_folder(archive, root + "data/aotinductor/")) {
    return python_archive("a program of torch.export (.pt2)");
  }
  if (has_folder(archive, root + ".data/ts_code/")) return std::nullopt;
  if (has(".data/extern_modules") || has(".data/python_version")) {
    return python_archive("a torch.package without a TorchScript module in it");
  }
  const bool code = has_folder(archive, root + "code/");
  if (has("bytecode.pkl") && !code) {
    return Finding{"a model for PyTorch's mobile interpreter alone, without TorchScript code",
                   "export it again with module.save(\"model.pt\")"};
  }
  if (has("constants.pkl") || code) return missing_part(archive, root);
  if (has("data.pkl")) {
    constexpr std::size_t enough = 1 << 20;
    return identify_pickle(archive.read(root + "data.pkl", enough));
  }
  return Finding{};
}

/// Any other zip archive.
Finding identify_other_archive(const Archive& archive) {
  const auto ends = [](std::string_view ending) {
    return [ending](const std::string& name) { return name.ends_with(ending); };
  };
  if (archive.has("constants.pkl") && archive.has("data.pkl")) {
    return {"a TorchScript archive that was repacked without its top folder",
            "unpack it into a folder and zip the folder itself: zip -0 -r model.pt FOLDER"};
  }
  if (archive.has("MAR-INF/MANIFEST.json"))
    return {"a TorchServe archive", "unpack it and give the TorchScript file in it"};
  if (!any_name(archive, [](const std::string& name) { return !name.ends_with(".npy"); })) {
    return {"a NumPy archive (.npz)", "calibration data are given with --data"};
  }
  if (archive.has("config.json") && any_name(archive, ends(".h5")))
    return {"a Keras model", fmt::format("export the original model in Python: {}", kHowToExport)};
  for (const Record& record : archive.records()) {
    const std::string& name = record.name;
    if (name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".ts")) {
      return {"a zip archive with another file in it",
              fmt::format("unpack it and give {}", printable(name))};
    }
  }
  return {fmt::format("a zip archive without a TorchScript model in it (its first record is {})",
                      printable(archive.records().front().name)),
          fmt::format("give a TorchScript file: {}", kHowToExport)};
}

}  // namespace

std::string top_folder(const Archive& archive) {
  if (archive.records().empty()) return "";
  const std::string& first = archive.records().front().name;
  const std::size_t slash = first.find('/');
  return slash == std::string::npos ? "" : first.substr(0, slash + 1);
}

std::optional<Finding> identify_archive(const Archive& archive) {
  if (archive.records().empty())
    return Finding{"an empty zip archive", "copy or export the file again"};
  if (!archive.has("constants.pkl")) {
    const std::optional<Finding> finding = identify_torch_archive(archive, top_folder(archive));
    if (!finding || !finding->what.empty()) return finding;
  }
  return identify_other_archive(archive);
}

std::vector<std::string> packaged_modules(const Archive& archive) {
  const std::string folder = top_folder(archive) + ".data/ts_code/";
  const std::string ending = "/data.pkl";
  std::vector<std::string> ids;
  for (const Record& record : archive.records()) {
    if (record.name.starts_with(folder) && record.name.ends_with(ending) &&
        record.name.size() > folder.size() + ending.size()) {
      ids.push_back(
          record.name.substr(folder.size(), record.name.size() - folder.size() - ending.size()));
    }
  }
  return ids;
}

}  // namespace hot::models
