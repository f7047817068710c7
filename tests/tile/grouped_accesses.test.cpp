// SPDX-License-Identifier: MIT
// Strides that are known at compile time, through every kind of transform,
// and accesses that share an address because of them.
#include <tilewright/descriptor/transform_descriptor.hpp>
#include <tilewright/tile/grouped_accesses.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

/// Elements of a step along dimension D; 0 where it is not known.
template <index_t D, class Descriptor>
constexpr index_t stride_of(const Descriptor& descriptor) {
  constexpr linear_step step = step_along(Descriptor::graph, D);
  return step.slot < 0 ? step.factor : step.factor * descriptor.values[step.slot];
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
  EXPECT_EQ(step_along(strided.graph, 0).slot, 2) << "after the two lengths";
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
  EXPECT_EQ(stride_of<1>(twice), 0) << "a product of two strides that are known at run time";
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

TEST(GroupedAccesses, ShareAddressesAlongLinearDimensions) {
  // A thread holds 4 rows of 3 vectors of 4 columns.
  constexpr distribution_encoding encoding =
      tile_distribution_encoding<sequence<>, tuple<sequence<4, 8>, sequence<3, 8, 4>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<1, 1>>, sequence<1, 2, 2>, sequence<0, 0, 2>>::value;
  constexpr auto descriptor =
      make_naive_tensor_descriptor(make_tuple(number<32>{}, number<96>{}), make_tuple(number<100>{}, number<1>{}));
  constexpr tensor_graph graph = descriptor.graph;
  using none = grouped_accesses<graph, encoding, 4, -1>;
  using columns = grouped_accesses<graph, encoding, 4, -1, 1>;
  using both = grouped_accesses<graph, encoding, 4, -1, 0, 1>;
  using gathered = grouped_accesses<graph, encoding, 4, 0, 1>;
  static_assert(none::num_access == 12 && none::list.num_groups == 12);
  static_assert(columns::list.num_groups == 4 && columns::list.immediate[1] == 32 && columns::list.base[3] == 1);
  static_assert(both::list.num_groups == 1 && both::list.immediate[3] == 800);
  static_assert(gathered::page.count == 4 && gathered::page.of_access[5] == 1 && gathered::page.x[2] == 16);
  // Neighbours along the gathered dimension are no vector.
  constexpr auto columns_first =
      make_naive_tensor_descriptor(make_tuple(number<96>{}, number<96>{}), make_tuple(number<1>{}, number<100>{}));
  constexpr distribution_encoding along_columns =
      tile_distribution_encoding<sequence<>, tuple<sequence<3, 8, 4>, sequence<4, 8>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<1, 1>>, sequence<2, 1, 1>, sequence<0, 0, 2>>::value;
  static_assert(grouped_accesses<columns_first.graph, along_columns, 4, -1>::vector.length == 4 &&
                grouped_accesses<columns_first.graph, along_columns, 4, 1>::vector.length == 4 &&
                grouped_accesses<columns_first.graph, along_columns, 4, 0>::vector.length == 1);
  // Rows with a stride that is the first run-time value: each has an address of its own.
  constexpr auto pitched =
      make_naive_tensor_descriptor(make_tuple(number<32>{}, number<96>{}), make_tuple(100, number<1>{}), number<4>{});
  using rows_and_columns = grouped_accesses<pitched.graph, encoding, 4, -1, 0, 1>;
  static_assert(step_along(pitched.graph, 0).slot == 0 && rows_and_columns::list.num_groups == 4);
}

}  // namespace
}  // namespace tilewright
