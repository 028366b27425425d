#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;

namespace hot::models {

/// One record of a zip archive, as its central directory has it.
struct Record {
  std::string name;
  std::uint64_t size = 0;         ///< bytes, unpacked
  std::uint64_t packed_size = 0;  ///< bytes in the file
  std::uint32_t crc = 0;
  std::uint64_t index = 0;  ///< in the central directory

  /// Some writers leave the checksum out and store 0.
  [[nodiscard]] bool has_no_checksum() const { return crc == 0 && size > 0; }
};

/// A zip archive opened for reading. The sizes that a file claims are never trusted: memory is
/// bounded.
class Archive {
 public:
  /// Null if the file isn't a readable zip archive.
  static std::unique_ptr<Archive> open(const std::string& path);

  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] bool has(const std::string& name) const;
  /// The record's first `limit` bytes. Throws ModelError if it is missing or can't be read.
  [[nodiscard]] std::string read(const std::string& name, std::size_t limit) const;
  /// Bytes of all records, unpacked.
  [[nodiscard]] std::uint64_t unpacked_bytes() const;
  /// Reads every record through. Throws ModelError that names the first damaged one: a wrong
  /// checksum, a size that doesn't fit, or data that unpack to far more than they take in the file.
  /// Returns the number of records that carry no checksum.
  int verify() const;

 private:
  struct Close {
    void operator()(zip* archive) const;
  };
  Archive(std::string path, zip* archive);
  /// Hands the record on in chunks until `consume` returns false. Throws ModelError if it is
  /// damaged.
  using Consumer = std::function<bool(std::string_view)>;
  void stream(const Record& record, const Consumer& consume) const;

  std::string path_;
  std::unique_ptr<zip, Close> archive_;
  std::vector<Record> records_;
};

}  // namespace hot::models
