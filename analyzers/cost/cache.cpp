#include "analyzers/cost/cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace hot::cost {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "hot-analyze times 1";
constexpr std::size_t kKeptFiles = 16;
constexpr std::chrono::hours kKeptFor = std::chrono::days(30);

std::string folder() {
  if (const char* own = std::getenv("HOT_CACHE_DIR")) return own;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/hot-analyze";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::string(home) + "/.cache/hot-analyze";
  }
  return "";
}

/// FNV-1a: the device's text as a file name. The text itself stands in the file and is compared.
std::uint64_t hash(const std::string& text) {
  std::uint64_t h = 1469598103934665603U;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return h;
}

/// "times-<16 hexadecimal digits>.tsv", and with a process id what a run that was killed left.
bool is_times(const std::string& name) {
  constexpr std::string_view kBegin = "times-";
  constexpr std::string_view kEnd = ".tsv";
  const std::size_t digits = kBegin.size() + 16;
  return name.starts_with(kBegin) &&
         name.substr(0, digits).find_first_not_of("0123456789abcdef", kBegin.size()) ==
             std::string::npos &&
         name.substr(std::min(digits, name.size())).starts_with(kEnd);
}

/// Removes files of times beside `own` that are old, or are more than those that are kept.
void remove_old(const fs::path& own) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> others;
  fs::directory_iterator files(own.parent_path(), error);
  for (; !error && files != fs::directory_iterator(); files.increment(error)) {
    const fs::path& file = files->path();
    std::error_code gone;
    if (file == own || !files->is_regular_file(gone) || !is_times(file.filename().string()))
      continue;
    if (const auto written = fs::last_write_time(file, gone); !gone)
      others.emplace_back(written, file);
  }
  std::sort(others.begin(), others.end(), std::greater<>());
  const auto oldest = fs::file_time_type::clock::now() - kKeptFor;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (i + 1 >= kKeptFiles || others[i].first < oldest) fs::remove(others[i].second, error);
  }
}

}  // namespace

TimeCache::TimeCache(const std::string& device) : header_(device) {
  std::replace(header_.begin(), header_.end(), '\n', ' ');
  const std::string place = folder();
  if (place.empty()) return;
  path_ = fmt::format("{}/times-{:016x}.tsv", place, hash(header_));
  times_ = read();
}

std::map<std::string, double> TimeCache::read() const {
  std::map<std::string, double> times;
  std::ifstream file(path_);
  std::string line;
  if (!std::getline(file, line) || line != kFormat) return times;
  if (!std::getline(file, line) || line != header_) return times;
  while (std::getline(file, line)) {
    const auto tab = line.find('\t');
    if (tab == std::string::npos) continue;
    char* end = nullptr;
    const double ms = std::strtod(line.c_str() + tab + 1, &end);
    if (*end == '\0' && std::isfinite(ms) && ms > 0) times[line.substr(0, tab)] = ms;
  }
  return times;
}

std::optional<double> TimeCache::find(const std::string& key) const {
  const auto found = times_.find(key);
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

void TimeCache::put(const std::string& key, double ms) {
  times_[key] = ms;
  changed_ = true;
}

void TimeCache::save() {
  if (path_.empty() || !changed_) return;
  std::map<std::string, double> all = read();
  for (const auto& [key, ms] : times_) all[key] = ms;
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  const std::string temporary = fmt::format("{}.{}", path_, getpid());
  std::ofstream file(temporary);
  file << kFormat << '\n' << header_ << '\n';
  for (const auto& [key, ms] : all) file << fmt::format("{}\t{:.6g}\n", key, ms);
  file.close();
  if (file) fs::rename(temporary, path_, error);
  if (!file || error) {
    fs::remove(temporary, error);
    note_ = fmt::format("Measured times could not be kept in {}; the next run measures them anew.",
                        path_);
  }
  if (note_.empty()) remove_old(path_);
  changed_ = false;
}

}  // namespace hot::cost
