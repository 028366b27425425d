#include "analyzers/cost/cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hot::cost {
namespace {

namespace fs = std::filesystem;

class CacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("hot_cache_test." + std::to_string(getpid()));
    setenv("HOT_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("HOT_CACHE_DIR");
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

TEST_F(CacheTest, KeepsTimesByDevice) {
  TimeCache first("machine a");
  EXPECT_FALSE(first.find("linear 8x8"));
  first.put("linear 8x8", 1.5);
  first.save();
  EXPECT_DOUBLE_EQ(*TimeCache("machine a").find("linear 8x8"), 1.5);
  EXPECT_FALSE(TimeCache("machine b").find("linear 8x8"));
}

// Two runs at a time: what the other wrote meanwhile stays.
TEST_F(CacheTest, SavesBesideWhatOthersWrote) {
  TimeCache a("m");
  TimeCache b("m");
  a.put("x", 1);
  b.put("y", 2);
  a.save();
  b.save();
  EXPECT_TRUE(TimeCache("m").find("x"));
  EXPECT_TRUE(TimeCache("m").find("y"));
}

// Damaged lines and times that can't be are left out.
TEST_F(CacheTest, DamagedFilesAreNoError) {
  TimeCache a("m");
  a.put("x", 1);
  a.save();
  const fs::path file = fs::directory_iterator(folder_)->path();
  std::ofstream(file, std::ios::app) << "no tab\nzero\t0\nword\tabc\nfine\t2\n";
  const TimeCache again("m");
  EXPECT_TRUE(again.find("x"));
  EXPECT_FALSE(again.find("zero"));
  EXPECT_FALSE(again.find("word"));
  EXPECT_DOUBLE_EQ(*again.find("fine"), 2);
  std::ofstream(file) << "something else\n";
  EXPECT_FALSE(TimeCache("m").find("x"));
}

TEST_F(CacheTest, WhatCannotBeWrittenIsTold) {
  std::ofstream(folder_) << "a file where the folder should be";
  TimeCache a("m");
  a.put("x", 1);
  a.save();
  EXPECT_NE(a.note().find("could not be kept"), std::string::npos);
}

// One file a device and build: the old ones go, and all beyond the newest; no other file does.
TEST_F(CacheTest, FilesOfOldBuildsGo) {
  fs::create_directories(folder_);
  const auto now = fs::file_time_type::clock::now();
  const auto file = [&](const std::string& name, std::chrono::hours age) {
    std::ofstream(folder_ / name) << "hot-analyze times 1\n";
    fs::last_write_time(folder_ / name, now - age);
    return folder_ / name;
  };
  const fs::path month = file("times-00000000000000ff.tsv", std::chrono::days(31));
  const fs::path left = file("times-00000000000000ff.tsv.4711", std::chrono::days(31));
  const fs::path other = file("times-of-mine.tsv", std::chrono::days(31));
  std::vector<fs::path> builds;
  for (int i = 0; i < 20; ++i)
    builds.push_back(
        file("times-00000000000000" + std::to_string(10 + i) + ".tsv", std::chrono::hours(1 + i)));
  TimeCache a("m");
  a.put("x", 1);
  a.save();
  EXPECT_FALSE(fs::exists(month));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(other));
  for (std::size_t i = 0; i < builds.size(); ++i) EXPECT_EQ(fs::exists(builds[i]), i < 15) << i;
  EXPECT_TRUE(TimeCache("m").find("x"));
}

TEST_F(CacheTest, AnEmptyFolderNameKeepsNothing) {
  setenv("HOT_CACHE_DIR", "", 1);
  TimeCache a("m");
  a.put("x", 1);
  a.save();
  EXPECT_DOUBLE_EQ(*a.find("x"), 1);
  EXPECT_FALSE(TimeCache("m").find("x"));
}

}  // namespace
}  // namespace hot::cost
