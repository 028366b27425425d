#include "analyzers/cost/cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

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
