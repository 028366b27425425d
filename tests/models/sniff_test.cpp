#include "models/file/sniff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <filesystem>
#include <fstream>
#include <new>
#include <utility>

#include "core/errors.hpp"
#include "models/file/archive.hpp"
#include "models/file/fingerprint.hpp"
#include "models/file/memory_limit.hpp"
#include "models/file/printable.hpp"

namespace hot::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;
namespace fs = std::filesystem;

using Records = std::vector<std::pair<std::string, std::string>>;

/// A TorchScript archive as far as names and small records go.
Records torchscript(const std::string& root = "m/", const std::string& version = "3\n") {
  return {{root + "data.pkl", "\x80\x02N."},
          {root + "code/__torch__.py", "class M(Module):\n"},
          {root + "data/0", std::string(64, 'w')},
          {root + "constants.pkl", "\x80\x02)."},
          {root + "version", version}};
}

Records without(Records records, const std::string& name) {
  std::erase_if(records, [&](const auto& record) { return record.first == name; });
  return records;
}

class Sniff : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("hot_sniff_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& bytes) {
    const std::string path = folder_ / "model.pt";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  /// Stored, not packed, as torch writes tensors.
  std::string write_zip(const Records& records, zip_int32_t method = ZIP_CM_STORE) {
    const std::string path = folder_ / "model.pt";
    zip* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const auto& [name, content] : records) {
      zip_source* source = zip_source_buffer(archive, content.data(), content.size(), 0);
      const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0);
    }
    EXPECT_EQ(zip_close(archive), 0);
    return path;
  }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The message that the file is refused with; "" if it is taken for a TorchScript model.
  static std::string refusal(const std::string& path) {
    try {
      static_cast<void>(recognise(path));
    } catch (const ModelError& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith(path + ": "));
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(Sniff, TakesATorchScriptArchiveAndReadsItsVersion) {
  const TorchScriptFile file = recognise(write_zip(torchscript()));
  EXPECT_EQ(file.version, 3);
  EXPECT_TRUE(file.packaged.empty());
  EXPECT_TRUE(file.notes.empty());
}

TEST_F(Sniff, TakesPackedRecordsToo) {
  EXPECT_EQ(refusal(write_zip(torchscript(), ZIP_CM_DEFLATE)), "");
}

TEST_F(Sniff, NotesTheLiteInterpretersArchive) {
  Records records = torchscript();
  records.emplace_back("m/bytecode.pkl", "x");
  EXPECT_THAT(recognise(write_zip(records)).notes,
              ::testing::ElementsAre(HasSubstr("lite interpreter")));
}

TEST_F(Sniff, ListsTheModulesOfAPackage) {
  const Records records = {{"p/.data/0.storage", "w"},
                           {"p/.data/ts_code/0/data.pkl", "x"},
                           {"p/.data/ts_code/0/constants.pkl", "x"},
                           {"p/.data/ts_code/1/data.pkl", "x"},
                           {"p/.data/ts_code/code/__torch__.py", "x"},
                           {"p/.data/extern_modules", ""},
                           {"p/.data/version", "6\n"}};
  const TorchScriptFile file = recognise(write_zip(records));
  EXPECT_THAT(file.packaged, ::testing::ElementsAre("0", "1"));
  EXPECT_EQ(file.version, 6);
}

TEST_F(Sniff, RefusesWhatIsNoRegularFile) {
  EXPECT_THAT(refusal(folder_ / "missing.pt"),
              AllOf(HasSubstr("No such file"), HasSubstr("check the path")));
  EXPECT_THAT(refusal(folder_ / "missing" / "m.pt"), HasSubstr("No such file"));
  EXPECT_THAT(refusal(folder_), HasSubstr("a directory"));
  fs::create_directory(folder_ / "unpacked");
  std::ofstream(folder_ / "unpacked" / "constants.pkl") << "x";
  EXPECT_THAT(refusal(folder_ / "unpacked"),
              AllOf(HasSubstr("unpacked TorchScript archive"), HasSubstr("zip -0 -r")));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal(pipe), HasSubstr("a pipe"));
  fs::create_symlink("nowhere", folder_ / "link");
  EXPECT_THAT(refusal(folder_ / "link"), HasSubstr("No such file"));
}

TEST_F(Sniff, RefusesAnUnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may read every file";
  const std::string path = write("x");
  fs::permissions(path, fs::perms::none);
  EXPECT_THAT(refusal(path), HasSubstr("cannot be read: Permission denied"));
}

struct Known {
  std::string name;
  std::string bytes;
  std::vector<std::string> words;
};

class SniffBytes : public Sniff, public ::testing::WithParamInterface<Known> {};

TEST_P(SniffBytes, IsNamedWithAnOrder) {
  const std::string message = refusal(write(GetParam().bytes));
  for (const std::string& word : GetParam().words) EXPECT_THAT(message, HasSubstr(word));
}

const std::string kTail(100, '\xa7');

INSTANTIATE_TEST_SUITE_P(
    Magic, SniffBytes,
    ::testing::Values(
        Known{"empty", "", {"empty file", "again"}},
        Known{"text", "hello, model\n", {"text file", "torch.jit"}},
        Known{"lfs",
              "version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
              {"Git LFS pointer", "git lfs pull"}},
        Known{"html", "\n<!DOCTYPE html>\n<html></html>", {"web page", "download"}},
        Known{"html_plain", "<HTML><body>", {"web page"}},
        Known{"legacy",
              "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9 j\xa8P\x19.",
              {"old format of torch.save", "torch.jit"}},
        Known{"pickle", "\x80\x04\x95\x10", {"Python pickle", "torch.jit"}},
        Known{"safetensors",
              "\x02\0\0\0\0\0\0\0{}         "s,
              {"safetensors", "weights without code", "torch.jit"}},
        Known{"onnx", "\x08\x08\x12\x07pytorch" + kTail, {"ONNX", "torch.jit"}},
        Known{"gzip", "\x1f\x8b\x08" + kTail, {"gzip", "unpack"}},
        Known{"bzip2", "BZh9" + kTail, {"bzip2", "unpack"}},
        Known{"xz",
              "\xfd"
              "7zXZ\0"s +
                  kTail,
              {"xz", "unpack"}},
        Known{"zstd", "\x28\xb5\x2f\xfd" + kTail, {"zstd", "unpack"}},
        Known{"tar", std::string(257, 'a') + "ustar" + kTail, {"tar archive", "unpack"}},
        Known{"flatbuffer", "\x24\0\0\0PTMF"s + kTail, {"flatbuffer", "module.save"}},
        Known{"executorch", "\x24\0\0\0ET12"s + kTail, {"ExecuTorch", "torch.jit"}},
        Known{"tflite", "\x24\0\0\0TFL3"s + kTail, {"TensorFlow Lite", "torch.jit"}},
        Known{"hdf5", "\x89HDF\r\n\x1a\n" + kTail, {"HDF5", "torch.jit"}},
        Known{"numpy", "\x93NUMPY\x01" + kTail, {"NumPy array", "--data"}},
        Known{"gguf", "GGUF\x03" + kTail, {"GGUF"}},
        Known{"elf",
              "\x7f"
              "ELF\x02" +
                  kTail,
              {"shared library", "--load-library"}},
        Known{"zeros", std::string(1000, '\0'), {"zeros", "incomplete"}},
        Known{
            "zip_start", "PK\x03\x04" + kTail, {"zip archive whose end is missing", "incomplete"}},
        Known{"unknown", "\xa7\xb8" + kTail, {"no file of a known kind", "torch.jit"}}),
    [](const auto& info) { return info.param.name; });

struct KnownZip {
  std::string name;
  Records records;
  std::vector<std::string> words;
};

class SniffZip : public Sniff, public ::testing::WithParamInterface<KnownZip> {};

TEST_P(SniffZip, IsNamedWithAnOrder) {
  const std::string message = refusal(write_zip(GetParam().records));
  for (const std::string& word : GetParam().words) EXPECT_THAT(message, HasSubstr(word));
}

/// An archive of torch.save around the given pickle.
Records saved(const std::string& pickle) {
  return {{"a/data.pkl", pickle}, {"a/data/0", "w"}, {"a/version", "3\n"}};
}

const std::string kTensor =
    "ctorch._utils\n_rebuild_tensor_v2\nq\x01((X\x07\0\0\0storageq\x02"
    "ctorch\nFloatStorage\nq\x03"s;

INSTANTIATE_TEST_SUITE_P(
    Names, SniffZip,
    ::testing::Values(
        KnownZip{"state_dict",
                 saved("\x80\x02"
                       "ccollections\nOrderedDict\nq" +
                       kTensor),
                 {"state_dict", "torch.jit"}},
        KnownZip{"checkpoint",
                 saved("\x80\x02}q\x01(X\x05\0\0\0model"s + kTensor),
                 {"checkpoint", "torch.jit", "--data"}},
        KnownZip{"tensor", saved("\x80\x02" + kTensor), {"tensor saved by torch.save", "--data"}},
        KnownZip{"list", saved("\x80\x02]q\x01(" + kTensor), {"Python values", "--data"}},
        KnownZip{"module",
                 saved("\x80\x02"
                       "c__main__\nNet\nq\x01" +
                       kTensor),
                 {"Python object", "__main__.Net", "torch.jit"}},
        KnownZip{"exported",
                 {{"e/archive_format", "pt2"}, {"e/models/model.json", "{}"}},
                 {"torch.export", "torch.jit"}},
        KnownZip{"exported_old",
                 {{"serialized_exported_program.json", "{}"}, {"version", "5"}},
                 {"torch.export"}},
        KnownZip{"compiled", {{"e/data/aotinductor/model/x.so", "x"}}, {"torch.export"}},
        KnownZip{"package",
                 {{"p/model/m.pkl", "x"}, {"p/.data/extern_modules", ""}},
                 {"torch.package without", "torch.jit"}},
        KnownZip{"no_constants",
                 without(torchscript(), "m/constants.pkl"),
                 {"constants.pkl is missing", "export it again"}},
        KnownZip{"no_data",
                 without(torchscript(), "m/data.pkl"),
                 {"data.pkl is missing", "export it again"}},
        KnownZip{"no_version",
                 without(torchscript(), "m/version"),
                 {"version is missing", "export it again"}},
        KnownZip{"no_code",
                 without(torchscript(), "m/code/__torch__.py"),
                 {"code is missing", "export it again"}},
        KnownZip{"bad_version", torchscript("m/", "three"), {"no version number"}},
        KnownZip{"repacked", torchscript(""), {"repacked without its top folder", "zip -0 -r"}},
        KnownZip{"npz", {{"a.npy", "x"}, {"b.npy", "x"}}, {"NumPy archive", "--data"}},
        KnownZip{
            "keras", {{"config.json", "{}"}, {"model.weights.h5", "x"}}, {"Keras", "torch.jit"}},
        KnownZip{"torchserve",
                 {{"MAR-INF/MANIFEST.json", "{}"}, {"model.pt", "x"}},
                 {"TorchServe", "unpack"}},
        KnownZip{"nested",
                 {{"readme.txt", "x"}, {"best/model.pt", "x"}},
                 {"unpack it and give best/model.pt"}},
        KnownZip{
            "plain", {{"word/document.xml", "x"}}, {"zip archive without", "word/document.xml"}}),
    [](const auto& info) { return info.param.name; });

TEST_F(Sniff, FindsEveryFlippedByteOfARecord) {
  const std::string path = write_zip(torchscript());
  const std::string whole = read(path);
  const std::size_t data = whole.find(std::string(64, 'w'));
  for (const std::size_t place : {data, data + 31, data + 63}) {
    std::string flipped = whole;
    flipped[place] = static_cast<char>(flipped[place] ^ 1);
    EXPECT_THAT(refusal(write(flipped)),
                AllOf(HasSubstr("record m/data/0 is damaged"), HasSubstr("checksum")));
  }
}

TEST_F(Sniff, RefusesEveryTruncation) {
  const std::string whole = read(write_zip(torchscript()));
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_NE(refusal(write(whole.substr(0, size))), "")
        << size << " of " << whole.size() << " bytes";
  }
}

/// Any one byte may be wrong: the file is then refused or taken, but nothing crashes.
TEST_F(Sniff, SurvivesEveryWrongByte) {
  const std::string whole = read(write_zip(torchscript()));
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string wrong = whole;
    wrong[place] = static_cast<char>(~wrong[place]);
    static_cast<void>(refusal(write(wrong)));
  }
}

TEST_F(Sniff, RefusesAnArchiveThatUnpacksToFarMoreThanItHolds) {
  Records records = torchscript();
  records.emplace_back("m/data/1", std::string(std::size_t{80} << 20, '\0'));
  EXPECT_THAT(refusal(write_zip(records, ZIP_CM_DEFLATE)),
              AllOf(HasSubstr("record m/data/1"), HasSubstr("unpack")));
}

/// torch.serialization.set_crc32_options(False) writes 0 for every checksum.
TEST_F(Sniff, TakesRecordsWithoutAChecksumAndSaysSo) {
  std::string bytes = read(write_zip(torchscript()));
  // The checksum stands 14 bytes after a local header's start and 16 after a central one's.
  for (std::size_t i = 0; i + 46 < bytes.size(); ++i) {
    const std::string_view sign(bytes.data() + i, 4);
    if (sign == "PK\x03\x04") bytes.replace(i + 14, 4, 4, '\0');
    if (sign == "PK\x01\x02") bytes.replace(i + 16, 4, 4, '\0');
  }
  EXPECT_THAT(recognise(write(bytes)).notes,
              ::testing::ElementsAre(HasSubstr("5 records of the file carry no checksum")));
}

TEST_F(Sniff, LeavesTheFileAsItIs) {
  const std::string path = write_zip(torchscript());
  const std::string before = read(path);
  const auto time = fs::last_write_time(path);
  static_cast<void>(recognise(path));
  EXPECT_EQ(read(path), before);
  EXPECT_EQ(fs::last_write_time(path), time);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(Sniff, ReadsOnlyTheBytesAskedFor) {
  const auto archive = Archive::open(write_zip(torchscript()));
  ASSERT_NE(archive, nullptr);
  EXPECT_EQ(archive->read("m/data/0", 5), "wwwww");
  EXPECT_EQ(archive->read("m/version", 100), "3\n");
  EXPECT_THROW(static_cast<void>(archive->read("m/nothing", 5)), ModelError);
}

TEST(Printable, KeepsUtf8AndReplacesTheRest) {
  EXPECT_EQ(printable("größe 層 🙂"), "größe 層 🙂");
  EXPECT_EQ(printable("a\nb\x7f\x1b["), "a?b??[");
  EXPECT_EQ(printable("\xe4 \xc3"), "? ?");
  EXPECT_EQ(printable("\xed\xa0\x80 \xc0\x80 \xf4\x90\x80\x80"), "??? ?? ????");
  EXPECT_EQ(printable(std::string(300, 'x')), std::string(200, 'x') + " …");
}

/// The digest of "abc" is the standard's own example (FIPS 180-4).
TEST_F(Sniff, FingerprintIsSha256) {
  EXPECT_EQ(sha256_of_file(write("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of_file(write("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(MemoryLimit, EndsWithItsObject) {
  const auto allocate = [] { return std::string(std::size_t{256} << 20, 'x').back(); };
  {
    const MemoryLimit limit(std::uint64_t{64} << 20);
    if (!limit.holds()) GTEST_SKIP() << "this process has a limit already";
    EXPECT_THROW(allocate(), std::bad_alloc);
    const MemoryLimit higher(std::uint64_t{1} << 30);
    EXPECT_FALSE(higher.holds());
    EXPECT_THROW(allocate(), std::bad_alloc);
  }
  EXPECT_EQ(allocate(), 'x');
}

}  // namespace
}  // namespace hot::models
