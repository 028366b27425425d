#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace {

/// Small products are quicker on one thread; tests of threads set their own number.
class OneThread : public testing::Environment {
 public:
  void SetUp() override { at::set_num_threads(1); }
};

[[maybe_unused]] const auto* const kOneThread =
    testing::AddGlobalTestEnvironment(new OneThread);  // owned by GoogleTest

}  // namespace
