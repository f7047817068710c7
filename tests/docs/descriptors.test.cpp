// SPDX-License-Identifier: MIT
// What docs/descriptors.md shows.
#include <tilewright/core.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

namespace {

TEST(DocsDescriptors, Descriptors) {
  const index_t height = 100, pitch = 72;

  const auto rows = tw::make_naive_tensor_descriptor(make_tuple(height, number<64>{}), make_tuple(pitch, number<1>{}));
  const index_t offset = rows.calculate_offset({3, 5});  // 3 * 72 + 5
  constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<64>{}));
  static_assert(packed.calculate_offset({3, 5}) == 197 && packed.get_element_space_size() == 256);
  static_assert(packed.is_static() && !rows.is_static());

  constexpr number<4> m;
  constexpr auto pitched =
      tw::make_naive_tensor_descriptor(make_tuple(m, number<64>{}), make_tuple(number<72>{}, number<1>{}));
  constexpr auto broadcast = tw::transform_tensor_descriptor(
      packed, make_tuple(tw::make_insert_transform(number<3>{}), tw::make_merge_transform(make_tuple(m, number<64>{}))),
      make_tuple(sequence<>{}, sequence<0, 1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  static_assert(tw::is_unique(pitched) && !tw::is_exhaustive(pitched));      // gaps at the ends of the rows
  static_assert(!tw::is_unique(broadcast) && tw::is_exhaustive(broadcast));  // everything three times

  EXPECT_EQ(offset, 221);
  EXPECT_EQ(rows.get_element_space_size(), 99 * 72 + 64);
  static_assert(rows.get_length<1>() == 64);
}

/// The columns of a row in groups of 8, with the groups in reverse order.
struct reverse_groups {
  TILEWRIGHT_HD constexpr index_t operator()(index_t column) const { return (7 - column / 8) * 8 + column % 8; }
};

TEST(DocsDescriptors, ATransformOfYourOwn) {
  constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<64>{}));
  constexpr auto reversed = tw::transform_tensor_descriptor(
      packed,
      make_tuple(tw::make_pass_through_transform(number<4>{}),
                 tw::make_functor_transform(reverse_groups{}, number<64>{}, number<64>{}, make_tuple(), number<8>{})),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  static_assert(reversed.calculate_offset({1, 3}) == 64 + 56 + 3);
  static_assert(tw::is_unique(reversed) && tw::is_exhaustive(reversed));
  EXPECT_EQ(reversed.get_top_dimension_safe_vector_length_strides().lengths[1], 8);
}

TEST(DocsDescriptors, Transforms) {
  // An XOR swizzle by hand: 8 chunks of 8 elements in every row of 64, permuted by the row.
  constexpr number<16> m;
  constexpr number<8> k0, k1;
  constexpr auto chunks = tw::make_naive_tensor_descriptor_packed(make_tuple(m, k0, k1));
  constexpr auto permuted = tw::transform_tensor_descriptor(
      chunks, make_tuple(tw::make_xor_transform(make_tuple(m, k0)), tw::make_pass_through_transform(k1)),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
  constexpr auto tile = tw::transform_tensor_descriptor(
      permuted, make_tuple(tw::make_pass_through_transform(m), tw::make_merge_transform(make_tuple(k0, k1))),
      make_tuple(sequence<0>{}, sequence<1, 2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  static_assert(tile.calculate_offset({0, 8}) == 8);               // row 0: chunk 1 stays chunk 1
  static_assert(tile.calculate_offset({3, 8}) == 3 * 64 + 2 * 8);  // row 3: chunk 1 becomes chunk 1 ^ 3 = 2

  static_assert(tile.graph.nodes.size() == 3 && tile.ndim == 2);
  std::vector<bool> seen(1024);
  for (index_t i = 0; i < 1024; ++i) seen[std::size_t(tile.calculate_offset({i / 64, i % 64}))] = true;
  EXPECT_EQ(seen, std::vector<bool>(1024, true));
}

TEST(DocsDescriptors, Pads) {
  const index_t width = 30;
  const auto row = tw::make_naive_tensor_descriptor_packed(make_tuple(width));
  const auto padded =
      tw::transform_tensor_descriptor(row, make_tuple(tw::make_pad_transform(width, number<1>{}, number<1>{})),
                                      make_tuple(sequence<0>{}), make_tuple(sequence<0>{}));
  EXPECT_EQ(padded.get_length<0>(), 32);
  EXPECT_FALSE(padded.is_valid({0}));
  EXPECT_TRUE(padded.is_valid({1}));
  EXPECT_EQ(padded.calculate_offset({1}), 0);
}

}  // namespace
