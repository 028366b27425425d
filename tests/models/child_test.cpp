#include "models/load/child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <thread>

namespace hot::models {
namespace {

using End = ChildResult::End;
using std::chrono::seconds;

TEST(Child, ReturnsWhatTheWorkReturns) {
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  const ChildResult result = run_in_child([&] { return text; }, seconds(30));
  EXPECT_EQ(result.end, End::returned);
  EXPECT_EQ(result.output, text);
}

TEST(Child, ReportsASignal) {
  const ChildResult result = run_in_child(
      []() -> std::string {
        ::raise(SIGSEGV);
        return "";
      },
      seconds(30));
  EXPECT_EQ(result.end, End::signalled);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST(Child, ReportsAnExit) {
  const ChildResult exited = run_in_child([]() -> std::string { ::_exit(7); }, seconds(30));
  EXPECT_EQ(exited.end, End::exited);
  EXPECT_EQ(exited.code, 7);
  EXPECT_EQ(run_in_child([]() -> std::string { throw std::runtime_error("x"); }, seconds(30)).end,
            End::exited);
}

TEST(Child, IsEndedWhenTheTimeIsOver) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult result = run_in_child(
      []() -> std::string {
        std::this_thread::sleep_for(seconds(60));
        return "";
      },
      seconds(1));
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(20));
}

TEST(Child, PrintsNothing) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const auto chatter = []() -> std::string {
    std::puts("out");
    std::fputs("err", stderr);
    std::fflush(nullptr);
    return "";
  };
  static_cast<void>(run_in_child(chatter, seconds(30)));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace hot::models
