// SPDX-License-Identifier: MIT
// What docs/layouts.md shows.
#include <tilewright/core.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

namespace {

TEST(docs_layouts, descriptors) {
  const index_t height = 100, pitch = 72;

  const auto rows = tw::make_naive_tensor_descriptor(make_tuple(height, number<64>{}), make_tuple(pitch, number<1>{}));
  const index_t offset = rows.calculate_offset({3, 5});  // 3 * 72 + 5
  constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<16>{}, number<64>{}));
  static_assert(packed.calculate_offset({3, 5}) == 197 && packed.get_element_space_size() == 1024);
  static_assert(packed.is_static() && !rows.is_static());

  constexpr number<16> m;
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

TEST(docs_layouts, transforms) {
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

TEST(docs_layouts, pads) {
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

// The copy of a 128 x 32 tile by 256 threads in waves of 64. R: none. H: 128 = 2 * 4 * 16 and 32 = 4 * 8.
// P: the wave is factor (1, 1), the lane is (1, 2) and (2, 0). Y: a thread holds (1, 0) times (2, 1), 2 x 8 elements.
using copy = tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4, 16>, sequence<4, 8>>,
                                            tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                            sequence<1, 2>, sequence<0, 1>>;
using distribution = decltype(tw::make_static_tile_distribution(copy{}));

static_assert(distribution::get_lengths() == tw::multi_index<2>{128, 32});
static_assert(distribution::num_threads() == 256 && distribution::num_elements == 16);
// Wave 0, lane 5: 5 = 1 * 4 + 1, so row 1 and the second chunk of columns.
static_assert(distribution::calculate_index({0, 5}) == tw::multi_index<2>{1, 8});
// Its registers 8 ... 15 are 64 rows further down.
static_assert(distribution::y_to_x({1, 0}) == tw::multi_index<2>{64, 0});
static_assert(distribution::y_to_register({1, 0}) == 8);

// The same as a value, for programs that compute their distributions.
constexpr tw::distribution_encoding copy_by_value() {
  tw::distribution_encoding e;
  e.h.push_back({});
  for (index_t factor : {2, 4, 16}) e.h[0].push_back(factor);
  e.h.push_back({});
  for (index_t factor : {4, 8}) e.h[1].push_back(factor);
  e.p.push_back({});
  e.p[0].push_back({1, 1});
  e.p.push_back({});
  e.p[1].push_back({1, 2});
  e.p[1].push_back({2, 0});
  e.y.push_back({1, 0});
  e.y.push_back({2, 1});
  return e;
}
static_assert(copy_by_value() == copy::value);
static_assert(tw::check(copy_by_value()).fault == tw::encoding_fault::none);

using traits = tw::load_store_traits<distribution, tw::half_t>;
static_assert(traits::vector_dim_y == 1 && traits::scalar_per_vector == 8 && traits::num_access == 2);

// Operand A of a matrix instruction: the lane map is data, its distribution follows.
constexpr auto mfma = tw::arch::describe(tw::arch::matrix_op::mfma_32x32x8);
static_assert(mfma.a.at(40, 3) == tw::arch::matrix_position{8, 7});  // lane 40, register 3: row 8, column 7
using operand = tw::tile_distribution<tw::encoding_of(mfma.a)>;
static_assert(operand::calculate_index({40}) == tw::multi_index<2>{8, 4});

}  // namespace
