// SPDX-License-Identifier: MIT
// Values in words, letter by letter.
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/viz/text.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using copy = tile_distribution_encoding<sequence<2>, tuple<sequence<2, 4, 16>, sequence<4, 8>>,
                                        tuple<sequence<1>, sequence<0, 1, 2>>, tuple<sequence<1>, sequence<0, 2, 0>>,
                                        sequence<1, 2>, sequence<0, 1>>;

TEST(Text, OfAnEncoding) {
  EXPECT_EQ(to_string(copy::value), R"(tile distribution encoding
  R: 2 (P1)
  X0 = 128: 2 (Y0) x 4 (P0) x 16 (P1)
  X1 = 32: 4 (P1) x 8 (Y1)
  P0: X0.1
  P1: R.0 X0.2 X1.0
  Y: X0.0 X1.1
)");
}

TEST(Text, OfADistribution) {
  EXPECT_EQ(to_string(make_static_tile_distribution(copy{})),
            "tile of 128 x 32 over 4 x 128 threads, 16 elements each (2 x 8)\n" + to_string(copy::value));
  using alone = tile_distribution_encoding<sequence<>, tuple<sequence<1>>, tuple<>, tuple<>, sequence<>, sequence<>>;
  EXPECT_EQ(to_string(make_static_tile_distribution(alone{})),
            "tile of 1 over 1 threads, 1 elements each\ntile distribution encoding\n  X0 = 1: 1\n  Y:\n");
}

TEST(Text, OfAWrongEncodingShowsBothOwners) {
  distribution_encoding wrong = copy::value;
  wrong.y[0] = {2, 1};
  const std::string text = to_string(wrong);
  EXPECT_NE(text.find("X0 = 128: 2 x 4 (P0)"), std::string::npos) << text;
  EXPECT_NE(text.find("8 (Y0) (Y1)"), std::string::npos) << text;
}

TEST(Text, OfCurves) {
  EXPECT_EQ(to_string(space_filling_curve<2, sequence<4, 8>, sequence<1, 0>, sequence<1, 4>, true>{}),
            "curve of 4 x 8, order 1 0, accesses of 1 x 4, snake: 8 accesses");
  EXPECT_EQ(to_string(curve<1>{{{5}}, {{0}}, {{2}}, false}), "curve of 5, order 0, accesses of 2: 3 accesses");
  EXPECT_EQ(to_string(hilbert_curve{3, 4}), "Hilbert curve of 3 x 4 tiles");
  EXPECT_EQ(to_string(row_group_curve{3, 4, 2}), "curve of 3 x 4 tiles in groups of 2 rows");
  EXPECT_EQ(to_string(row_group_curve{3, 4, 2, true}), "curve of 3 x 4 tiles in groups of 2 rows, snake");
  EXPECT_EQ(to_string(multi_index<3>{{1, 2, 3}}), "(1, 2, 3)");
}

TEST(Text, OfADescriptor) {
  constexpr auto packed = make_naive_tensor_descriptor_packed(make_tuple(number<8>{}, number<4>{}));
  constexpr auto merged =
      transform_tensor_descriptor(packed, make_tuple(make_merge_transform(make_tuple(number<8>{}, number<4>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
  EXPECT_EQ(
      to_string(merged),
      "tensor descriptor of 32, 32 elements, dimensions 3\n  3 -> 1 2: merge (8, 4)\n  1 2 -> 0: unmerge (8, 4)\n");
  EXPECT_EQ(to_string(merged.graph),
            "tensor graph, dimensions 3\n  3 -> 1 2: merge (8, 4)\n  1 2 -> 0: unmerge (8, 4)\n");
}

TEST(Text, OfADescriptorWithRunTimeLengths) {
  const auto rows = make_naive_tensor_descriptor(make_tuple(index_t{100}, number<32>{}),
                                                 make_tuple(index_t{40}, number<1>{}), number<4>{});
  EXPECT_EQ(
      to_string(rows),
      "tensor descriptor of 100 x 32, 3992 elements, dimensions 1 2\n  1 2 -> 0: embed (?=100, 32, ?=40, 1, 0, 4)\n");
  EXPECT_EQ(to_string(rows.graph), "tensor graph, dimensions 1 2\n  1 2 -> 0: embed (?, 32, ?, 1, 0, 4)\n");
}

}  // namespace
}  // namespace tilewright
