#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/serialize.h>

#include <fstream>

#include "core/errors.hpp"
#include "models/data/data_set.hpp"
#include "models/inputs.hpp"
#include "tests/models/hand_made.hpp"

namespace hot::models {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Folder;
using testing::hand_made;
using ::testing::HasSubstr;
using testing::message_of;

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// What torch.save writes, for a tensor, tuple or dictionary.
void torch_save(const std::string& path, const c10::IValue& value) {
  const std::vector<char> bytes = torch::jit::pickle_save(value);
  write(path, std::string(bytes.begin(), bytes.end()));
}

std::string npy(const std::string& header, const std::string& body) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + body;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

std::string safetensors(const std::string& json, const std::string& body) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>((json.size() >> (8 * i)) & 0xff);
  return bytes + json + body;
}

class Data : public ::testing::Test {
 protected:
  /// The only tensor of a file with these bytes.
  at::Tensor only(const std::string& bytes) {
    write(folder_.file("d"), bytes);
    return read_data(folder_.file("d")).tensors.at(0).tensor;
  }
  std::string refusal(const std::string& bytes) {
    write(folder_.file("d"), bytes);
    return message_of<ModelError>([&] { static_cast<void>(read_data(folder_.file("d"))); });
  }
  Folder folder_;
};

TEST_F(Data, NpyOfBothByteOrdersAndMemoryOrders) {
  const std::string little("\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00", 12);
  const at::Tensor rows = at::arange(1, 7, at::kShort).reshape({2, 3});
  EXPECT_TRUE(only(npy(header("<i2", "(2, 3)"), little)).equal(rows));
  EXPECT_TRUE(only(npy(header("<i2", "(3, 2)", true), little)).equal(rows.t()));
  const std::string big("\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06", 12);
  EXPECT_TRUE(only(npy(header(">i2", "(2, 3)"), big)).equal(rows));
  EXPECT_TRUE(only(npy(header("<u2", "(6,)"), little)).equal(at::arange(1, 7, at::kLong)));
  EXPECT_TRUE(only(npy(header("|b1", "(2,)"), std::string("\x00\x01", 2)))
                  .equal(at::tensor({0, 1}).to(at::kBool)));
}

TEST_F(Data, NpyThatLiesAboutItselfIsRefused) {
  EXPECT_THAT(refusal(npy(header("<f4", "(1000000, 1000000)"), "abcd")),
              HasSubstr("shorter than its shape"));
  EXPECT_THAT(refusal(npy(header("<f4", "(9223372036854775807, 4)"), "abcd")),
              HasSubstr("shorter"));
  EXPECT_THAT(refusal(npy(header("<c8", "(1,)"), "abcdefgh")), HasSubstr("'<c8'"));
  EXPECT_THAT(refusal(npy(header("|O", "(1,)"), "abcdefgh")), HasSubstr("'|O'"));
  EXPECT_THAT(
      refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd")),
      HasSubstr("named fields"));
  EXPECT_THAT(refusal(npy(header("<f4", "(-1,)"), "abcd")), HasSubstr("shape can't be read"));
  EXPECT_THAT(refusal(npy("{}", "")), HasSubstr("no 'descr'"));
  EXPECT_THAT(refusal("\x93NUMPY"), HasSubstr("not a numpy array"));
  EXPECT_THAT(refusal(std::string("\x93NUMPY\x01\x00\xff\xff{", 11)), HasSubstr("header claims"));
}

TEST_F(Data, SafetensorsAreReadByOffset) {
  const at::Tensor value = only(safetensors(
      R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
      std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8)));
  EXPECT_TRUE(value.equal(at::tensor({1.0F, 2.0F})));
}

TEST_F(Data, SafetensorsThatLieAreRefused) {
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"("x":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}";
  };
  const std::string body(8, '\0');
  const auto refused = [&](const std::string& json) {
    return refusal(safetensors("{" + json + "}", body));
  };
  EXPECT_THAT(refused(entry("F32", "[2]", "[0,80]")), HasSubstr("outside the file"));
  EXPECT_THAT(refused(entry("F32", "[2]", "[8,0]")), HasSubstr("outside the file"));
  EXPECT_THAT(refused(entry("F32", "[3]", "[0,8]")), HasSubstr("don't fit its shape"));
  EXPECT_THAT(refused(entry("F32", "[-2]", "[0,8]")), HasSubstr("no valid size"));
  EXPECT_THAT(refused(entry("F32", "[4611686018427387904,4]", "[0,8]")),
              HasSubstr("don't fit its shape"));
  EXPECT_THAT(refused(entry("F8_E4M3", "[8]", "[0,8]")), HasSubstr("F8_E4M3"));
  EXPECT_THAT(refused(entry("F32", "[2]", "[0,8]") +
                      R"(,"y":{"dtype":"U8","shape":[4],"data_offsets":[4,8]})"),
              HasSubstr("overlap"));
  EXPECT_THAT(refused(R"("x":3)"), HasSubstr("lacks dtype"));
}

TEST_F(Data, TorchSaveOfTensorsTuplesAndDictionaries) {
  const at::Tensor x = at::randn({3, 2});
  torch_save(folder_.file("d.pt"), x);
  EXPECT_TRUE(read_data(folder_.file("d.pt")).tensors.at(0).tensor.equal(x));
  torch_save(folder_.file("d.pt"), c10::ivalue::Tuple::create({x, x + 1}));
  EXPECT_EQ(read_data(folder_.file("d.pt")).tensors.size(), 2U);
  c10::Dict<std::string, at::Tensor> dict;
  dict.insert("x", x);
  torch_save(folder_.file("d.pt"), dict);
  EXPECT_EQ(read_data(folder_.file("d.pt")).tensors.at(0).name, "x");
}

TEST_F(Data, WhatIsNoTensorIsRefusedByName) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("rate", 0.5);
  torch_save(folder_.file("d.pt"), dict);
  EXPECT_THAT(message_of<ModelError>([&] { static_cast<void>(read_data(folder_.file("d.pt"))); }),
              HasSubstr("key 'rate' is a Double"));
  EXPECT_THAT(refusal("hello"), HasSubstr("none of .pt"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("PK\x03\x04 garbage"), HasSubstr("damaged"));
  EXPECT_THAT(refusal("\x80\x02\x8a\x0al\xfc"), HasSubstr("torch.save"));
}

/// One flipped byte inside a record changes numbers without a trace, but not the checksum.
TEST_F(Data, FlippedBytesAreFound) {
  torch_save(folder_.file("d.pt"), at::ones({64, 64}));
  std::ifstream in(folder_.file("d.pt"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const std::size_t one = bytes.find(std::string("\x00\x00\x80\x3f\x00\x00\x80\x3f", 8));
  ASSERT_NE(one, std::string::npos);
  bytes[one + 2] = '\x7f';
  EXPECT_THAT(refusal(bytes), HasSubstr("d"));
}

class FromData : public Data {
 protected:
  FromData()
      : model_(hand_made(
            "def forward(self, x, scale: float = 1.0):\n  return torch.linear(x, self.w) * scale",
            {{"w", at::randn({5, 2})}})) {}

  void save(const std::vector<std::pair<std::string, at::Tensor>>& arrays) {
    c10::Dict<std::string, at::Tensor> dict;
    for (const auto& [name, tensor] : arrays) dict.insert(name, tensor);
    torch_save(folder_.file("d.pt"), dict);
  }
  Inputs inputs(int batch = 0, int batches = 1, std::vector<std::string> given = {}) {
    InputOptions options;
    options.data = folder_.file("d.pt");
    options.labels = labels_;
    options.batch = batch;
    options.batches = batches;
    options.inputs = std::move(given);
    return make_inputs(model_, options);
  }
  Model model_;
  std::string labels_;
};

TEST_F(FromData, MinibatchesAreConsecutiveSamplesWithTheirLabels) {
  const at::Tensor x = at::randn({10, 2});
  const at::Tensor y = at::arange(10, at::kInt);
  save({{"x", x}, {"labels", y}});
  const Inputs result = inputs(3, 2);
  EXPECT_EQ(result.source, "data file");
  EXPECT_EQ(result.description, "x float32 3x2");
  ASSERT_EQ(result.batches.size(), 2U);
  EXPECT_TRUE(result.batches[1].inputs[0].toTensor().equal(x.narrow(0, 3, 3)));
  EXPECT_TRUE(result.batches[1].labels.equal(at::tensor({3L, 4L, 5L})));
  EXPECT_EQ(result.batches[1].inputs[1].toDouble(), 1.0);
  EXPECT_THAT(result.notes, Contains(HasSubstr("The first 6 of 10 samples")));
  EXPECT_EQ(inputs().batches[0].inputs[0].toTensor().size(0), 8);
}

TEST_F(FromData, LabelsMayBeAnArrayOfTheData) {
  save({{"x", at::randn({4, 2})}, {"labels", at::zeros({4}, at::kLong)}, {"fine", at::arange(4)}});
  labels_ = "fine";
  const Inputs result = inputs();
  EXPECT_TRUE(result.batches[0].labels.equal(at::arange(4)));
  EXPECT_THAT(result.notes, Contains(HasSubstr("'labels' of the data file is left out")));
  labels_ = "coarse";
  EXPECT_THAT(message_of<ModelError>([&] { inputs(); }),
              HasSubstr("no such file, nor an array of that name"));
}

TEST_F(FromData, TheCommandLineGivesTheRest) {
  save({{"x", at::randn({4, 2})}});
  const Inputs result = inputs(2, 1, {"scale=float:3"});
  EXPECT_EQ(result.source, "data file and command line");
  EXPECT_EQ(result.batches[0].inputs[1].toDouble(), 3.0);
  EXPECT_THAT(message_of<UsageError>([&] { inputs(2, 1, {"x=4x2"}); }), HasSubstr("leave one out"));
}

TEST_F(FromData, TypesAreConvertedWhereNothingIsLost) {
  save({{"x", at::arange(4, at::kByte).reshape({2, 2})}});
  const Inputs result = inputs();
  EXPECT_EQ(result.batches[0].inputs[0].toTensor().scalar_type(), at::kFloat);
  EXPECT_THAT(result.notes, Contains(HasSubstr("from uint8 to float32")));
  save({{"x", at::randn({2, 2}, at::kDouble)}});
  EXPECT_EQ(inputs().batches[0].inputs[0].toTensor().scalar_type(), at::kFloat);
}

TEST_F(FromData, MismatchesAreRefused) {
  const auto refused = [&](int batch, int batches) {
    return message_of<ModelError>([&] { inputs(batch, batches); });
  };
  save({{"x", at::randn({4, 2})}, {"labels", at::arange(3)}});
  EXPECT_THAT(refused(0, 1), AllOf(HasSubstr("4 samples"), HasSubstr("3")));
  save({{"x", at::randn({4, 2})}});
  EXPECT_THAT(refused(3, 2), HasSubstr("need 6"));
  EXPECT_THAT(refused(0, 5), HasSubstr("need 5"));
  save({{"x", at::randn({4, 2})}, {"colour", at::randn({4})}});
  EXPECT_THAT(refused(0, 1), HasSubstr("'colour'"));
  save({{"labels", at::arange(3)}});
  EXPECT_THAT(refused(0, 1), HasSubstr("nothing for an argument"));
  at::Tensor nan = at::zeros({4, 2});
  nan[2][1] = NAN;
  save({{"x", nan}});
  EXPECT_THAT(refused(0, 1), HasSubstr("NaN (first in sample 2)"));
}

TEST_F(FromData, TokensMustFitTheEmbedding) {
  model_ = hand_made("def forward(self, tokens):\n  return torch.embedding(self.e, tokens)",
                     {{"e", at::randn({9, 2})}});
  save({{"tokens", at::arange(8).reshape({2, 4}).to(at::kInt)}});
  EXPECT_EQ(inputs().batches[0].inputs[0].toTensor().scalar_type(), at::kLong);
  save({{"tokens", at::arange(8).reshape({2, 4}) + 2}});
  EXPECT_THAT(message_of<ModelError>([&] { inputs(); }), HasSubstr("takes 0 to 8"));
  save({{"tokens", at::randn({2, 4})}});
  EXPECT_THAT(message_of<ModelError>([&] { inputs(); }), HasSubstr("takes int64"));
}

TEST_F(FromData, DictionaryAndListArguments) {
  model_ = hand_made("def forward(self, d: Dict[str, Tensor]):\n  return d['a'] * self.w",
                     {{"w", at::randn({2})}});
  save({{"a", at::randn({4, 2})}, {"b", at::randn({4, 3})}});
  EXPECT_EQ(inputs(2).description, "d {a: float32 2x2, b: float32 2x3}");
  model_ = hand_made("def forward(self, xs: List[Tensor]):\n  return xs[0] * self.w",
                     {{"w", at::randn({2})}});
  save({{"xs", at::randn({4, 2})}});
  EXPECT_EQ(inputs(2).batches[0].inputs[0].toTensorList().size(), 2U);
}

/// Two arrays for one argument: the second is the labels.
TEST_F(FromData, TuplesGoByPlace) {
  torch_save(folder_.file("d.pt"), c10::ivalue::Tuple::create({at::randn({4, 2}), at::arange(4)}));
  EXPECT_THAT(inputs().batches[0].labels.sizes(), ElementsAre(4));
}

TEST(Shipped, TheCalibrationBatchFitsTheShippedModel) {
  const std::string folder = std::string(HOT_SOURCE_DIR) + "/models/";
  const Model model = load_model({folder + "digits_vit.pt", "forward", {}});
  InputOptions options;
  options.data = folder + "digits_calibration.pt";
  const Inputs inputs = make_inputs(model, options);
  EXPECT_THAT(inputs.batches[0].inputs[0].toTensor().sizes(), ElementsAre(8, 1, 8, 8));
  EXPECT_THAT(inputs.batches[0].labels.sizes(), ElementsAre(8));
}

}  // namespace
}  // namespace hot::models
