#include "models/load/load_errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <vector>

#include "core/errors.hpp"

namespace hot::models {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What the user reads when loading m.pt threw `thrown`.
template <class Exception>
std::string translated(const Exception& thrown, ExitCode code) {
  try {
    try {
      throw thrown;
    } catch (...) {
      rethrow_load_error("m.pt");
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "";
}

struct Known {
  std::string text;
  std::vector<std::string> words;
};

TEST(LoadErrors, SayWhatToDo) {
  const std::vector<Known> known = {
      {"\nUnknown builtin op: mylib::fused.\nCould not find any similar ops to mylib::fused.\n:\n",
       {"mylib::fused", "library mylib", "--load-library"}},
      {"Unknown builtin op: torchvision::nms.\n", {"torchvision::nms", "torchvision/_C_stable.so"}},
      {"Unknown builtin op: aten::new_op.\n", {"aten::new_op", "export it with"}},
      {"Unknown type name '__torch__.torch.classes.my.Thing':\n", {"my.Thing", "--load-library"}},
      {"\nUnknown type name 'posix.system':\nposix.system\n", {"posix.system", "nothing was run"}},
      {"required keyword attribute 'value' is undefined", {"optimize_for_inference"}},
      {"Found no NVIDIA driver on your system.", {"CUDA", "model.cpu()"}},
      {"Unknown opcode for unpickling at 0: 0", {"damaged"}},
      {"\nexpected ) here:\n  the code", {"LibTorch", "cannot load it (expected ) here)"}},
      {"x() INTERNAL ASSERT FAILED at \"/a/b.h\":1, please report a bug to PyTorch. Expected Int",
       {"cannot load it (Expected Int)"}},
      {"x() INTERNAL ASSERT FAILED at \"/a/b.h\":1, please report a bug to PyTorch. ",
       {"cannot load it (an internal check failed)"}},
      {"'N (of Python compilation unit at: 0x55f6dd)' object has no attribute 'a'",
       {"cannot load it ('N' object has no attribute 'a')"}},
      {"bytes \x01\xff of the file", {"bytes ?? of the file"}},
      {"", {"cannot load it"}},
  };
  for (const Known& row : known) {
    const std::string message = translated(std::runtime_error(row.text), ExitCode::model);
    EXPECT_THAT(message, ::testing::StartsWith("m.pt: "));
    EXPECT_THAT(message, Not(HasSubstr("\n")));
    for (const std::string& word : row.words) EXPECT_THAT(message, HasSubstr(word));
  }
}

TEST(LoadErrors, TellMemoryFromTheModel) {
  EXPECT_THAT(translated(std::bad_alloc(), ExitCode::environment), HasSubstr("not enough memory"));
  const std::runtime_error allocator("DefaultCPUAllocator: can't allocate memory: you tried to");
  EXPECT_THAT(translated(allocator, ExitCode::environment), HasSubstr("not enough memory"));
}

TEST(LoadErrors, PassThisProjectsOwn) {
  EXPECT_EQ(translated(UsageError("m.pt: as it was"), ExitCode::usage), "m.pt: as it was");
}

}  // namespace
}  // namespace hot::models
