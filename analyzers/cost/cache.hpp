#pragma once

#include <map>
#include <optional>
#include <string>

namespace hot::cost {

/// Times that earlier runs measured, kept on disk by device and version; a time of another device,
/// thread count, kernel or version is never used. One file of lines "key<TAB>ms"; it is read whole
/// and replaced whole, and a file that can't be read or written is no error: times are measured
/// anew, and note() says so. Files of other devices and builds go when they weren't written for a
/// month or sixteen are younger.
class TimeCache {
 public:
  /// `device`: what the times depend on besides the key. Folder: $HOT_CACHE_DIR, else
  /// $XDG_CACHE_HOME/hot-analyze, else ~/.cache/hot-analyze; $HOT_CACHE_DIR empty: no file.
  explicit TimeCache(const std::string& device);

  [[nodiscard]] std::optional<double> find(const std::string& key) const;
  void put(const std::string& key, double ms);
  /// Writes what is new, beside what others wrote meanwhile.
  void save();

  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  [[nodiscard]] std::map<std::string, double> read() const;

  std::string header_;
  std::string path_;  ///< empty: nothing is kept
  std::map<std::string, double> times_;
  bool changed_ = false;
  std::string note_;
};

}  // namespace hot::cost
