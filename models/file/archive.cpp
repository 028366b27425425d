#include "models/file/archive.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "models/file/printable.hpp"

namespace hot::models {
namespace {

constexpr std::size_t kChunk = 1 << 20;
// Deflate packs at most about 1030:1; source code and pickles stay under 30:1, tensors are stored
// as they are.
constexpr std::uint64_t kBombSize = std::uint64_t{64} << 20;
constexpr std::uint64_t kBombRatio = 200;

struct CloseRecord {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using OpenRecord = std::unique_ptr<zip_file_t, CloseRecord>;

int error_code(zip_file_t* file) {
  return zip_error_code_zip(zip_file_get_error(file));
}

std::string reason(zip_file_t* file) {
  switch (error_code(file)) {
    case ZIP_ER_CRC:
      return "its checksum is wrong";
    case ZIP_ER_EOF:
      return "it ends early";
    default:
      return zip_file_strerror(file);
  }
}

}  // namespace

void Archive::Close::operator()(zip* archive) const {
  zip_discard(archive);
}

Archive::Archive(std::string path, zip* archive) : path_(std::move(path)), archive_(archive) {
  const zip_int64_t count = zip_get_num_entries(archive, ZIP_FL_UNCHANGED);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive, static_cast<zip_uint64_t>(i), ZIP_FL_UNCHANGED | ZIP_FL_ENC_RAW,
                       &stat) != 0)
      continue;
    records_.push_back({stat.name, stat.size, stat.comp_size, stat.crc, stat.index});
  }
}

std::unique_ptr<Archive> Archive::open(const std::string& path) {
  zip* archive = zip_open(path.c_str(), ZIP_RDONLY, nullptr);
  if (archive == nullptr) return nullptr;
  return std::unique_ptr<Archive>(new Archive(path, archive));
}

bool Archive::has(const std::string& name) const {
  return std::any_of(records_.begin(), records_.end(),
                     [&](const Record& record) { return record.name == name; });
}

void Archive::stream(const Record& record, const Consumer& consume) const {
  const auto damaged = [&](const std::string& why) {
    return ModelError(fmt::format("{}: record {} is damaged: {}; copy or export the file again",
                                  path_, printable(record.name), why));
  };
  if (record.size > kBombSize && record.size / kBombRatio > record.packed_size) {
    throw ModelError(
        fmt::format("{}: record {} claims to unpack {} bytes into {}; such an archive is not read",
                    path_, printable(record.name), record.packed_size, record.size));
  }
  const OpenRecord file(zip_fopen_index(archive_.get(), record.index, ZIP_FL_UNCHANGED));
  if (!file) throw damaged(zip_strerror(archive_.get()));
  std::vector<char> chunk(std::min<std::uint64_t>(record.size + 1, kChunk));
  std::uint64_t total = 0;
  zip_int64_t got = 0;
  while ((got = zip_fread(file.get(), chunk.data(), chunk.size())) > 0) {
    total += static_cast<std::uint64_t>(got);
    if (total > record.size) throw damaged("it holds more than its size says");
    if (!consume({chunk.data(), static_cast<std::size_t>(got)})) return;
    throw_if_interrupted();
  }
  if (got < 0 && !(record.has_no_checksum() && error_code(file.get()) == ZIP_ER_CRC)) {
    throw damaged(reason(file.get()));
  }
  if (total != record.size) {
    throw damaged(fmt::format("it holds {} of its {} bytes", total, record.size));
  }
}

std::string Archive::read(const std::string& name, std::size_t limit) const {
  const auto record = std::find_if(records_.begin(), records_.end(),
                                   [&](const Record& candidate) { return candidate.name == name; });
  if (record == records_.end()) {
    throw ModelError(fmt::format("{}: record {} is missing; export the file again", path_, name));
  }
  std::string content;
  if (limit == 0) return content;
  stream(*record, [&](std::string_view chunk) {
    content += chunk.substr(0, limit - content.size());
    return content.size() < limit;
  });
  return content;
}

std::uint64_t Archive::unpacked_bytes() const {
  std::uint64_t bytes = 0;
  for (const Record& record : records_) bytes += record.size;
  return bytes;
}

int Archive::verify() const {
  int unchecked = 0;
  for (const Record& record : records_) {
    stream(record, [](std::string_view) { return true; });
    unchecked += record.has_no_checksum() ? 1 : 0;
  }
  return unchecked;
}

}  // namespace hot::models
