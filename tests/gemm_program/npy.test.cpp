// SPDX-License-Identifier: MIT
// Matrices in NumPy files: what is read, what is written, what is refused and in which words.
#include <cmath>
#include <cstring>
#include <ostream>

#include <gtest/gtest.h>

#include "npy.hpp"
#include "random.hpp"
#include "scratch_folder.hpp"

namespace gemm_program {
namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string dictionary(const std::string& descr, const std::string& fortran_order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape + ", }";
}

matrix random_matrix(std::int64_t rows, std::int64_t cols, order storage, element type) {
  matrix result{rows, cols, storage, type};
  fill_random(result, 7, 0);
  return result;
}

std::vector<std::uint16_t> words_of(const matrix& m) {
  std::vector<std::uint16_t> words(m.bytes.size() / sizeof(std::uint16_t));
  std::memcpy(words.data(), m.bytes.data(), m.bytes.size());
  return words;
}

TEST(GemmNpy, WhatIsWrittenIsReadAgain) {
  const scratch_folder folder;
  for (const element type :
       {element::f16, element::bf16, element::f32, element::e4m3, element::e5m2fnuz, element::i8, element::i32})
    for (const order storage : {order::row_major, order::col_major})
      for (const auto& [rows, cols] : {std::pair<int, int>{1, 1}, {1, 9}, {7, 1}, {33, 257}}) {
        const matrix source = random_matrix(rows, cols, storage, type);
        write_npy(folder / "m.npy", source);
        npy_reader reader(folder / "m.npy");
        const matrix copy = reader.read(type);
        EXPECT_EQ(copy.rows, rows);
        EXPECT_EQ(copy.cols, cols);
        EXPECT_EQ(copy.storage, storage);
        EXPECT_EQ(copy.type, type);
        EXPECT_EQ(copy.bytes, source.bytes);
        EXPECT_EQ(folder.file_count(), 1);
      }
}

TEST(GemmNpy, TheHeaderIsTheOneThatNumpyWrites) {
  const std::string header = make_npy_header(element::f16, order::row_major, 3, 4);
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(make_npy_header(element::bf16, order::col_major, 3, 4).find("'<V2', 'fortran_order': True"),
            std::string::npos);
  EXPECT_NE(make_npy_header(element::e4m3, order::row_major, 3, 4, 5)
                .find("'|V1', 'fortran_order': False, 'shape': (5, 3, 4)"),
            std::string::npos);
}

TEST(GemmNpy, EveryFormatAndNameOfBfloat16IsRead) {
  const scratch_folder folder;
  const std::vector<std::uint16_t> data{1, 2, 3, 4, 5, 6};
  for (const int version : {1, 2, 3})
    for (const char* descr : {"<V2", "|V2", "V2", "bfloat16", "<u2"}) {
      write_bytes(folder / "m.npy", npy_bytes(dictionary(descr, "True", "(2, 3)"), bytes_of(data), version));
      const matrix m = npy_reader(folder / "m.npy").read(element::bf16);
      EXPECT_EQ(m.storage, order::col_major);
      EXPECT_EQ(m.bits(1, 2), 6u);
      EXPECT_EQ(m.bits(1, 0), 2u);
    }
}

TEST(GemmNpy, SpellingOfTheDictionaryIsFree) {
  const std::string text = "{ \"shape\" :(2L,3L) ,\t'fortran_order':True,\"descr\":\"<f2\"}   ";
  const std::string bytes = npy_bytes(text, "");
  const npy_header header = parse_npy_header(bytes, static_cast<std::int64_t>(bytes.size()) + 12, "m.npy");
  EXPECT_EQ(header.rows, 2);
  EXPECT_EQ(header.cols, 3);
  EXPECT_EQ(header.storage, order::col_major);
  EXPECT_EQ(header.data_bytes(), 12);
}

TEST(GemmNpy, Float32IsRounded) {
  const scratch_folder folder;
  const std::vector<float> values{1.0f, -2.5f, 1.0f + 0x1p-11f, 1.0f + 0x1.8p-10f, INFINITY, 0x1p-24f};
  write_bytes(folder / "m.npy", npy_bytes(dictionary("<f4", "False", "(2, 3)"), bytes_of(values)));
  const std::vector<std::uint16_t> expected{0x3c00, 0xc100, 0x3c00, 0x3c02, 0x7c00, 0x0001};
  EXPECT_EQ(words_of(npy_reader(folder / "m.npy").read(element::f16)), expected);
  EXPECT_EQ(npy_reader(folder / "m.npy").read(element::bf16).bits(0, 1), 0xc020u);
}

TEST(GemmNpy, ManyFloat32AreReadInPieces) {
  const scratch_folder folder;
  std::vector<float> values(300 * 301);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 2048);
  write_bytes(folder / "m.npy", npy_bytes(dictionary("<f4", "False", "(300, 301)"), bytes_of(values)));
  const matrix m = npy_reader(folder / "m.npy").read(element::f16);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(value_of(element::f16, m.bits_at(std::int64_t(i))), values[i]);
}

TEST(GemmNpy, Float32BeyondTheRangeOfF16IsRefused) {
  const scratch_folder folder;
  write_bytes(folder / "m.npy", npy_bytes(dictionary("<f4", "False", "(1, 2)"), bytes_of<float>({1, 65520})));
  const std::string message = message_of<refusal>([&] { npy_reader(folder / "m.npy").read(element::f16); });
  EXPECT_NE(message.find("holds 65520.000000, which is too large for f16"), std::string::npos) << message;
  EXPECT_NO_THROW(npy_reader(folder / "m.npy").read(element::bf16));
}

TEST(GemmNpy, BytesAreAnyFp8AndIntegersThemselves) {
  const scratch_folder folder;
  for (const char* descr : {"|V1", "<V1", "V1", "|u1"}) {
    write_bytes(folder / "m.npy", npy_bytes(dictionary(descr, "False", "(1, 2)"), "\x38\xb8"));
    EXPECT_EQ(npy_reader(folder / "m.npy").read(element::e4m3).value(0, 1), -1);
    EXPECT_EQ(npy_reader(folder / "m.npy").read(element::e4m3fnuz).value(0, 1), -0.5);
    EXPECT_EQ(npy_reader(folder / "m.npy").read(element::e5m2).value(0, 0), 0.5);
    EXPECT_THROW(npy_reader(folder / "m.npy").read(element::i8), refusal);
  }
  write_bytes(folder / "m.npy", npy_bytes(dictionary("|i1", "False", "(1, 2)"), "\x7f\x80"));
  EXPECT_EQ(npy_reader(folder / "m.npy").read(element::i8).value(0, 0), 127);
  EXPECT_EQ(npy_reader(folder / "m.npy").read(element::i8).value(0, 1), -128);
  EXPECT_THROW(npy_reader(folder / "m.npy").read(element::e4m3), refusal);
  write_bytes(folder / "m.npy", npy_bytes(dictionary("<i4", "False", "(1, 1)"), bytes_of<int>({-7})));
  EXPECT_EQ(npy_reader(folder / "m.npy").read(element::i32).value(0, 0), -7);
}

TEST(GemmNpy, ABatchHasThreeDimensions) {
  const scratch_folder folder;
  write_bytes(folder / "m.npy",
              npy_bytes(dictionary("<f4", "False", "(2, 1, 3)"), bytes_of<float>({1, 2, 3, 4, 5, 6})));
  const matrix m = npy_reader(folder / "m.npy").read(element::f16);
  EXPECT_EQ(m.batch, 2);
  EXPECT_EQ(m.value(0, 2, 0), 3);
  EXPECT_EQ(m.value(0, 0, 1), 4);
  write_npy(folder / "n.npy", m);
  EXPECT_EQ(npy_reader(folder / "n.npy").read(element::f16).bytes, m.bytes);
  EXPECT_EQ(npy_reader(folder / "n.npy").header().batch, 2);
}

TEST(GemmNpy, Float32BeyondTheRangeOfEightBitsIsRefused) {
  const scratch_folder folder;
  const auto message = [&](float value, element type) {
    write_bytes(folder / "m.npy", npy_bytes(dictionary("<f4", "False", "(1, 1)"), bytes_of<float>({value})));
    return message_of<refusal>([&] { npy_reader(folder / "m.npy").read(type); });
  };
  EXPECT_EQ(message(448, element::e4m3), "");
  EXPECT_EQ(message(-240, element::e4m3fnuz), "");
  EXPECT_EQ(message(-128.25f, element::i8), "");
  EXPECT_NE(message(600, element::e4m3).find("holds 600.000000, which is too large for e4m3"), std::string::npos);
  EXPECT_NE(message(300, element::e4m3fnuz), "");
  EXPECT_NE(message(129, element::i8), "");
  EXPECT_NE(message(NAN, element::i8), "");
}

struct malformed {
  const char* name;
  std::string bytes;
  const char* sentence;
};

void PrintTo(const malformed& m, std::ostream* out) { *out << m.sentence; }

class GemmNpyMalformed : public testing::TestWithParam<malformed> {};

TEST_P(GemmNpyMalformed, IsRefusedInOneSentence) {
  const scratch_folder folder;
  write_bytes(folder / "m.npy", GetParam().bytes);
  const std::string message = message_of<refusal>([&] { npy_reader(folder / "m.npy").read(element::f16); });
  EXPECT_EQ(message.substr(0, message.find(' ')), folder / "m.npy");
  EXPECT_NE(message.find(GetParam().sentence), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

std::string with(const std::string& text, std::string_view data = "12345678", int version = 1) {
  return npy_bytes(text, data, version);
}

const std::string good = dictionary("<f2", "False", "(2, 2)");

INSTANTIATE_TEST_SUITE_P(
    Cases, GemmNpyMalformed,
    testing::Values(
        malformed{"empty", "", "not a .npy file"}, malformed{"bad_magic", "\x93NUMPX" + good, "not a .npy file"},
        malformed{"text", "1 2\n3 4\n", "not a .npy file"},
        malformed{"only_magic", "\x93NUMPY", "ends inside its header"},
        malformed{"version_0", with(good, "12345678", 0), "its format is 0.0"},
        malformed{"version_4", with(good, "12345678", 4), "its format is 4.0, not 1.0, 2.0 or 3.0"},
        malformed{"truncated_header", with(good).substr(0, 40), "ends inside its header"},
        malformed{"huge_header", std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13),
                  "claims to be 4294967295 bytes"},
        malformed{"truncated_data", with(good, "1234567"), "truncated: 2 x 2 elements take 8 bytes, and it has 7"},
        malformed{"no_data", with(good, ""), "truncated"},
        malformed{"trailing_data", with(good, "123456789"), "1 bytes follow its 2 x 2 elements"},
        malformed{"float64", with(dictionary("<f8", "False", "(2, 2)")), "its elements are '<f8'"},
        malformed{"big_endian", with(dictionary(">f2", "False", "(2, 2)")), "its elements are '>f2'"},
        malformed{"int16", with(dictionary("<i2", "False", "(2, 2)")), "its elements are '<i2'"},
        malformed{"control_characters", with(dictionary("\n\x01", "False", "(2, 2)")), "its elements are '\\x0a\\x01'"},
        malformed{"records", with("{'descr': [('x', '<f2')], 'fortran_order': False, 'shape': (2, 2)}"), "records"},
        malformed{"zero_dimensions", with(dictionary("<f2", "False", "()")), "it has 0 dimensions"},
        malformed{"one_dimension", with(dictionary("<f2", "False", "(4,)")),
                  "it has 1 dimensions; a matrix has 2, a batch of matrices 3"},
        malformed{"four_dimensions", with(dictionary("<f2", "False", "(2, 2, 1, 1)")), "it has 4 dimensions"},
        malformed{"batch_in_fortran_order", with(dictionary("<f2", "True", "(2, 2, 1)")), "do not follow each other"},
        malformed{"empty_batch", with(dictionary("<f2", "False", "(0, 2, 2)")), "it is 0 x 2 x 2"},
        malformed{"batch_overflow", with(dictionary("<f2", "False", "(4294967296, 65536, 65536)")),
                  "64 bits can count"},
        malformed{"truncated_batch", with(dictionary("<f2", "False", "(2, 2, 2)")),
                  "truncated: 2 x 2 x 2 elements take 16"},
        malformed{"negative_size", with(dictionary("<f2", "False", "(-2, 2)")), "its shape has a negative size"},
        malformed{"no_rows", with(dictionary("<f2", "False", "(0, 2)")), "it is 0 x 2"},
        malformed{"size_overflow", with(dictionary("<f2", "False", "(99999999999999999999, 2)")), "beyond 64 bits"},
        malformed{"product_overflow", with(dictionary("<f2", "False", "(4294967296, 4294967296)")),
                  "64 bits can count"},
        malformed{"byte_overflow", with(dictionary("<f2", "False", "(4611686018427387904, 1)")), "64 bits can count"},
        malformed{"huge", with(dictionary("<f2", "False", "(1000000, 1000000)")), "truncated"},
        malformed{"not_a_dictionary", with("[1, 2]"), "byte 0 of its header dictionary should be '{'"},
        malformed{"not_closed", with("{'descr': '<f2'"), "should be '}'"},
        malformed{"string_not_closed", with("{'descr: <f2"), "a string that ends"},
        malformed{"bad_bool", with(dictionary("<f2", "0", "(2, 2)")), "should be True or False"},
        malformed{"bad_size", with(dictionary("<f2", "False", "(x, 2)")), "should be a size"},
        malformed{"no_descr", with("{'fortran_order': False, 'shape': (2, 2)}"), "lacks 'descr'"},
        malformed{"no_order", with("{'descr': '<f2', 'shape': (2, 2)}"), "lacks 'fortran_order'"},
        malformed{"no_shape", with("{'descr': '<f2', 'fortran_order': False}"), "lacks 'shape'"},
        malformed{"twice", with("{'descr': '<f2', 'descr': '<f2'}"), "gives 'descr' twice"},
        malformed{"unknown_key", with("{'color': '<f2'}"), "unknown entry 'color'"},
        malformed{"more_text", with(good + " {}"), "nothing after the dictionary"}),
    [](const auto& info) { return info.param.name; });

TEST(GemmNpy, WhatIsNoFileIsRefused) {
  const scratch_folder folder;
  EXPECT_EQ(message_of<refusal>([&] { npy_reader reader(folder / "none.npy"); }),
            "cannot read " + (folder / "none.npy") + ": No such file or directory");
  EXPECT_NE(message_of<refusal>([&] { npy_reader reader(folder / ""); }).find("not a regular file"), std::string::npos);
  EXPECT_NE(message_of<refusal>([] { npy_reader reader("/dev/zero"); }).find("not a regular file"), std::string::npos);
}

TEST(GemmNpy, TheOtherSixteenBitTypeIsRefused) {
  const scratch_folder folder;
  write_npy(folder / "m.npy", random_matrix(2, 2, order::row_major, element::f16));
  EXPECT_NE(message_of<refusal>([&] { npy_reader(folder / "m.npy").read(element::bf16); }).find("does not hold bf16"),
            std::string::npos);
}

}  // namespace
}  // namespace gemm_program
