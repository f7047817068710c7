// SPDX-License-Identifier: MIT
// Steps of linear dimensions through every kind of transform, and offsets from bits.
#include <tilewright/core/descriptor/offset_analysis.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

/// Elements of a step along dimension D; 0 where it depends on the index.
template <index_t D, class Descriptor>
constexpr long_index_t stride_of(const Descriptor& descriptor) {
  return detail::step_along(Descriptor::graph, D).with_values(descriptor.values.data());
}

TEST(StepAlong, PlainTensors) {
  const auto packed = make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<5>{}, number<6>{}));
  EXPECT_EQ(stride_of<0>(packed), 30);
  EXPECT_EQ(stride_of<1>(packed), 6);
  EXPECT_EQ(stride_of<2>(packed), 1);
  const auto dynamic_middle = make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, index_t(5), number<6>{}));
  EXPECT_EQ(stride_of<0>(dynamic_middle), 30) << "6 times the run-time length";
  EXPECT_EQ(stride_of<1>(dynamic_middle), 6);
  const auto strided =
      make_naive_tensor_descriptor(make_tuple(index_t(9), index_t(9)), make_tuple(index_t(40), number<2>{}));
  EXPECT_EQ(stride_of<0>(strided), 40);
  EXPECT_EQ(detail::step_along(strided.graph, 0).only_slot(), 2) << "after the two lengths";
  EXPECT_EQ(stride_of<1>(strided), 2);
}

TEST(StepAlong, RunTimeStridesThroughTransforms) {
  const auto base =
      make_naive_tensor_descriptor(make_tuple(index_t(8), number<12>{}), make_tuple(number<1>{}, index_t(10)));
  const auto split = transform_tensor_descriptor(
      base,
      make_tuple(make_pass_through_transform(index_t(8)), make_unmerge_transform(make_tuple(number<3>{}, number<4>{}))),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1, 2>{}));
  EXPECT_EQ(stride_of<0>(split), 1);
  EXPECT_EQ(stride_of<1>(split), 40);
  EXPECT_EQ(stride_of<2>(split), 10);
  const auto twice =
      transform_tensor_descriptor(base,
                                  make_tuple(make_pass_through_transform(index_t(8)),
                                             make_embed_transform(make_tuple(number<3>{}), make_tuple(index_t(4)))),
                                  make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  EXPECT_EQ(stride_of<1>(twice), 40) << "a product of two strides that are known at run time";
}

TEST(StepAlong, ThroughTransforms) {
  const auto base =
      make_naive_tensor_descriptor(make_tuple(number<8>{}, number<12>{}), make_tuple(number<20>{}, number<1>{}));
  const auto moved = transform_tensor_descriptor(
      base,
      make_tuple(make_pad_transform(number<8>{}, number<1>{}, number<2>{}),
                 make_unmerge_transform(make_tuple(number<3>{}, number<4>{}))),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1, 2>{}));
  EXPECT_EQ(stride_of<0>(moved), 20);
  EXPECT_EQ(stride_of<1>(moved), 4);
  EXPECT_EQ(stride_of<2>(moved), 1);
  const auto merged =
      transform_tensor_descriptor(base, make_tuple(make_merge_transform(make_tuple(number<8>{}, number<12>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
  EXPECT_EQ(stride_of<0>(merged), 0) << "rows do not follow each other";
  const auto square = make_naive_tensor_descriptor_packed(make_tuple(number<8>{}, number<8>{}));
  const auto swizzled =
      transform_tensor_descriptor(square, make_tuple(make_xor_transform(make_tuple(number<8>{}, number<8>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0, 1>{}));
  EXPECT_EQ(stride_of<0>(swizzled) + stride_of<1>(swizzled), 0);
}

TEST(StepAlong, IsLinearBesideAMerge) {
  const auto matrix = make_naive_tensor_descriptor(make_tuple(3, 5, 16), make_tuple(80, 16, number<1>{}));
  const auto merged = transform_tensor_descriptor(
      matrix, make_tuple(make_merge_transform(make_tuple(3, 5)), make_right_pad_transform(16, 3)),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  EXPECT_FALSE(detail::step_along(merged.graph, 0).is_linear);
  EXPECT_TRUE(detail::step_along(merged.graph, 1).is_static());
}

TEST(StepAlong, CountsInRunTimeValues) {
  const auto boxes = make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, 6, 8));
  EXPECT_EQ(detail::step_along(boxes.graph, 0).slots.size(), 2);
  EXPECT_EQ(stride_of<0>(boxes), 48);
  EXPECT_EQ(detail::step_along(boxes.graph, 1).only_slot(), 1);
  EXPECT_FALSE(detail::step_along(boxes.graph, 1).is_static());
}

TEST(OffsetBits, AreThoseOfSwizzledRows) {
  constexpr auto rows = make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<8>{}));
  constexpr auto swizzled =
      transform_tensor_descriptor(rows, make_tuple(make_xor_transform(make_tuple(number<4>{}, number<8>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0, 1>{}));
  constexpr detail::offset_bits<2> bits = detail::find_offset_bits<2>(swizzled.graph);
  static_assert(bits.bit[0].size() == 2 && bits.bit[1].size() == 3);
  for (index_t i = 0; i < 32; ++i) EXPECT_EQ(bits.offset({{i / 8, i % 8}}), swizzled.calculate_offset({i / 8, i % 8}));
  EXPECT_EQ(bits.flipped_by_others({{3, 7}}), 0) << "a thread that holds all";
  EXPECT_EQ(bits.flipped_by_others({{3, 6}}), 1);
  EXPECT_EQ(bits.flipped_by_others({{1, 7}}), 18) << "row 2 and what it flips";
}

}  // namespace
}  // namespace tilewright
