// SPDX-License-Identifier: MIT
// Plain tensors: strided, packed, aligned.
#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(MakeNaiveTensorDescriptor, SpaceEndsWithTheLastElement) {
  constexpr auto d =
      make_naive_tensor_descriptor(make_tuple(number<3>{}, number<4>{}), make_tuple(number<10>{}, number<2>{}));
  static_assert(d.get_element_space_size() == d.calculate_offset({2, 3}) + 1);
  const auto large = make_naive_tensor_descriptor(make_tuple(100000, 4), make_tuple(1000000, number<1>{}));
  EXPECT_EQ(large.get_element_space_size(), 99999ll * 1000000 + 4) << "64 bits";
}

TEST(MakeNaiveTensorDescriptor, StrideZeroRepeatsARow) {
  constexpr auto d =
      make_naive_tensor_descriptor(make_tuple(number<3>{}, number<4>{}), make_tuple(number<0>{}, number<1>{}));
  static_assert(d.calculate_offset({2, 3}) == 3 && d.get_element_space_size() == 4);
}

TEST(MakeNaiveTensorDescriptor, UpToSevenDimensions) {
  constexpr number<2> two{};
  constexpr auto d = make_naive_tensor_descriptor(
      make_tuple(two, two, two, two, two, two, two),
      make_tuple(number<64>{}, number<32>{}, number<16>{}, number<8>{}, number<4>{}, two, number<1>{}));
  static_assert(d.calculate_offset({1, 0, 1, 0, 1, 0, 1}) == 85);
}

TEST(MakeNaiveTensorDescriptorPacked, IsRowMajorWithoutGaps) {
  constexpr auto d = make_naive_tensor_descriptor_packed(make_tuple(number<3>{}, number<4>{}, number<5>{}));
  static_assert(d.calculate_offset({2, 3, 4}) == 59 && d.get_element_space_size() == 60);
  const auto mixed = make_naive_tensor_descriptor_packed(make_tuple(3, number<4>{}, 5));
  EXPECT_EQ(mixed.calculate_offset({2, 3, 4}), 59);
  EXPECT_EQ(mixed.get_element_space_size(), 60);
  EXPECT_EQ(make_naive_tensor_descriptor_packed(make_tuple(7)).calculate_offset({6}), 6);
}

TEST(MakeNaiveTensorDescriptorAligned, RoundsThePitchUp) {
  constexpr auto d =
      make_naive_tensor_descriptor_aligned(make_tuple(number<3>{}, number<4>{}, number<5>{}), number<8>{});
  static_assert(d.is_static() && d.calculate_offset({1, 0, 0}) == 32 && d.calculate_offset({0, 1, 0}) == 8 &&
                d.calculate_offset({0, 0, 1}) == 1);
  static_assert(d.get_element_space_size() == 2 * 32 + 3 * 8 + 5, "the last row ends with its last element");
  const auto run_time = make_naive_tensor_descriptor_aligned(make_tuple(3, 4, 5), 8);
  EXPECT_EQ(run_time.calculate_offset({2, 3, 4}), d.calculate_offset({2, 3, 4}));
  EXPECT_EQ(run_time.get_element_space_size(), d.get_element_space_size());
  const auto mixed = make_naive_tensor_descriptor_aligned(make_tuple(3, number<4>{}, number<5>{}), number<8>{});
  EXPECT_EQ(mixed.calculate_offset({2, 3, 4}), d.calculate_offset({2, 3, 4}));
  static_assert(make_naive_tensor_descriptor_aligned(make_tuple(number<5>{}), number<8>{}).get_element_space_size() ==
                5);
}

TEST(MakeNaiveTensorDescriptor, WithAnOffsetThatCountsToTheSpace) {
  constexpr auto d = make_naive_tensor_descriptor_with_offset(make_tuple(number<3>{}, number<4>{}),
                                                              make_tuple(number<8>{}, number<1>{}), number<16>{});
  static_assert(d.is_static() && d.calculate_offset({0, 0}) == 16 && d.calculate_offset({2, 3}) == 35);
  static_assert(d.get_element_space_size() == 36);
  const auto run_time = make_naive_tensor_descriptor_packed_with_offset(make_tuple(3, 4), 16);
  EXPECT_EQ(run_time.calculate_offset({2, 3}), 27);
  EXPECT_EQ(run_time.get_element_space_size(), 28);
}

TEST(MakeNaiveTensorDescriptor, BackwardsFromAnOffset) {
  constexpr auto d = make_naive_tensor_descriptor_with_offset(make_tuple(number<3>{}, number<4>{}),
                                                              make_tuple(number<4>{}, number<-1>{}), number<3>{});
  static_assert(d.calculate_offset({0, 3}) == 0 && d.calculate_offset({2, 0}) == 11 &&
                d.get_element_space_size() == 12);
}

TEST(MakeNaiveTensorDescriptor, GuaranteesLetVectorsPass) {
  const auto vectors = [](const auto& d) { return d.get_top_dimension_safe_vector_length_strides(); };
  const auto strided = make_naive_tensor_descriptor(make_tuple(8, 64), make_tuple(64, number<1>{}), number<8>{});
  EXPECT_EQ(vectors(strided).lengths, (multi_index<2>{{1, 8}}));
  EXPECT_EQ(vectors(strided).strides, (multi_index<2>{{-1, 1}}));
  EXPECT_EQ(vectors(make_naive_tensor_descriptor_packed(make_tuple(8, 64))).lengths, (multi_index<2>{{1, 1}}));
  EXPECT_EQ(vectors(make_naive_tensor_descriptor_packed(make_tuple(8, 64), number<16>{})).lengths,
            (multi_index<2>{{1, 16}}));
  EXPECT_EQ(vectors(make_naive_tensor_descriptor_packed_with_offset(make_tuple(8, 64), 32, number<4>{})).lengths,
            (multi_index<2>{{1, 4}}));
  EXPECT_EQ(strided.get_top_dimension_safe_vector_length_strides(4).lengths, (multi_index<2>{{1, 4}}))
      << "of a tensor that begins anywhere";
}

TEST(OffsetsFit, OfRunTimeTensors) {
  EXPECT_TRUE(make_naive_tensor_descriptor_packed(make_tuple(1 << 16, 1 << 15)).offsets_fit());
  EXPECT_FALSE(make_naive_tensor_descriptor_packed(make_tuple((1 << 16) + 1, 1 << 15)).offsets_fit());
  const auto pitched = [](index_t rows) {
    return make_naive_tensor_descriptor(make_tuple(rows, 100), make_tuple(1 << 20, number<1>{}));
  };
  EXPECT_TRUE(pitched(2048).offsets_fit());
  EXPECT_FALSE(pitched(2049).offsets_fit());
  EXPECT_EQ(pitched(2049).get_element_space_size(), (1ll << 31) + 100) << "the space has 64 bits";
}

TEST(OffsetsFit, UpToTheLastOffsetOf32Bits) {
  constexpr auto last =
      make_naive_tensor_descriptor(make_tuple(number<2>{}, number<2>{}), make_tuple(number<2147483646>{}, number<1>{}));
  static_assert(last.offsets_fit() && last.calculate_offset({1, 1}) == 2147483647);
  static_assert(last.get_element_space_size() == 1ll << 31);
}

TEST(OffsetsFit, BelowZeroToo) {
  const auto backwards = [](index_t rows, auto stride) {
    return make_naive_tensor_descriptor(make_tuple(rows, number<4>{}), make_tuple(stride, number<1>{}));
  };
  EXPECT_TRUE(backwards(3, number<-1073741824>{}).offsets_fit());
  EXPECT_FALSE(backwards(3, number<-1073741825>{}).offsets_fit());
}

// Strides are 32-bit: those that are not must not come out as others.
TEST(OffsetsFit, NotWhereAStrideDoesNot) {
  for (const index_t rows : {1 << 15, 1 << 16}) {
    const auto lengths = make_tuple(2, 1 << 16, rows);
    EXPECT_FALSE(make_naive_tensor_descriptor_packed(lengths, number<8>{}).offsets_fit());
    EXPECT_FALSE(make_naive_tensor_descriptor_packed_with_offset(lengths, 8).offsets_fit());
    EXPECT_FALSE(make_naive_tensor_descriptor_aligned(lengths, 8).offsets_fit());
    EXPECT_GT(make_naive_tensor_descriptor_packed(lengths, number<8>{}).get_element_space_size(), 1ll << 31);
  }
  EXPECT_FALSE(make_naive_tensor_descriptor_aligned(make_tuple(3, 2147483647), 8).offsets_fit());
}

TEST(OffsetsFit, AsksForTheLengthsOfMergesToo) {
  const auto merged = [](index_t rows, index_t columns) {
    return transform_tensor_descriptor(
        make_naive_tensor_descriptor(make_tuple(rows, columns), make_tuple(number<0>{}, number<1>{})),
        make_tuple(make_merge_transform(make_tuple(rows, columns))), make_tuple(sequence<0, 1>{}),
        make_tuple(sequence<0>{}));
  };
  EXPECT_TRUE(merged(1 << 15, 1 << 15).offsets_fit());
  EXPECT_FALSE(merged(1 << 16, 1 << 15).offsets_fit());
}

}  // namespace
}  // namespace tilewright
