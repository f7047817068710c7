// SPDX-License-Identifier: MIT
// What docs/lds_mistakes.md shows: mistakes that were really made, as the analysis and the solver see them.
#include <tilewright/block/mma/fragments.hpp>
#include <tilewright/block/operands/operand_copy.hpp>
#include <tilewright/compat/ck_tile/xor_preshuffle.hpp>
#include <tilewright/core.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/layout_solver.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
namespace arch = tilewright::arch;
using arch::gfx942, arch::gfx950, arch::sm90;
using tw::index_t, tw::place_transform;
using kind = tw::lds_access_kind;
using enum arch::matrix_op;

namespace {

/// The worst degree when a wave touches the layout's elements of 2 bytes.
index_t degree(const arch::target& target, const tw::tensor_graph& layout, const tw::lds_use& use) {
  return tw::analyze_lds_access(target, layout, use.distribution, 2, use.kind).worst_degree;
}

tw::lds_use operand_of(arch::matrix_op op) {
  return {tw::encoding_of(tw::detail::load_map(op, arch::describe(op).a)), tw::fragment_access(op)};
}

/// What one wave of 64 lanes writes of rows of k halves, in vectors of 16 bytes.
tw::lds_use rows_of(index_t rows, index_t k) {
  return {tw::operand_copy_encoding(tw::operand_major::k, rows, k, 1, 64, 8, 8), kind::write};
}

// -------- the order of an unmerge

/// The XOR preshuffle of 64 rows of 32 halves, whose chunks (2 rows, 4 of each)
/// are numbered within a row first or row first.
tw::tensor_graph preshuffle(bool layer_first) {
  using enum tw::transform_kind;
  const tw::tensor_graph permuted =
      transform_graph(tw::strided_graph(32, 64, 64, 1), place_transform(unmerge, {1}, {1, 2}, 8, 8),
                      place_transform(pass_through, {0}, {0}, 32));
  const tw::tensor_graph swizzled = transform_graph(permuted, place_transform(xor_modulo, {0, 1}, {0, 1}, 32, 8),
                                                    place_transform(pass_through, {2}, {2}, 8));
  // (M / L, K0 * L, K1) to (M / L, L, K0, K1)
  const tw::tensor_graph layered = transform_graph(
      swizzled, place_transform(pass_through, {0}, {0}, 32),
      layer_first ? place_transform(unmerge, {1}, {1, 2}, 2, 4) : place_transform(unmerge, {1}, {2, 1}, 4, 2),
      place_transform(pass_through, {2}, {3}, 8));
  return transform_graph(layered, place_transform(merge, {0, 1}, {0}, 32, 2),
                         place_transform(merge, {2, 3}, {1}, 4, 8));
}

TEST(DocsLdsMistakes, OrderOfTheUnmerge) {
  const tw::tensor_graph wrong = preshuffle(false), right = preshuffle(true);
  EXPECT_EQ(degree(gfx942::value, wrong, operand_of(mfma_32x32x8_x2)), 2);
  EXPECT_EQ(degree(gfx942::value, wrong, operand_of(mfma_16x16x16_x2)), 4);
  EXPECT_EQ(degree(gfx942::value, right, operand_of(mfma_32x32x8_x2)), 1);
  EXPECT_EQ(degree(gfx942::value, right, operand_of(mfma_16x16x16_x2)), 1);

  EXPECT_EQ(degree(gfx942::value, wrong, rows_of(64, 32)), 1) << "writes show nothing";
  const auto documented = tw::lds_index_swapping<32, 8, 2, 64, tw::half_t>::descriptor;
  for (index_t row = 0; row < 64; ++row) {
    for (index_t k = 0; k < 32; ++k) {
      const tw::tensor_descriptor<documented.graph> d{};
      const index_t index[] = {row, k};
      index_t hidden[tw::tensor_graph::max_hidden] = {};
      tw::detail::lower_all(right, nullptr, index, hidden);
      ASSERT_EQ(hidden[0], d.calculate_offset({row, k}));
    }
  }
  const auto found = tw::choose_lds_layout<gfx942>({64, 32, 2}, rows_of(64, 32), operand_of(mfma_32x32x8_x2),
                                                   operand_of(mfma_16x16x16_x2));
  EXPECT_EQ(found.worst_degree, 1);
}

// -------- 32 banks as a constant

TEST(DocsLdsMistakes, BanksAsAConstant) {
  const tw::lds_tile tile{64, 64, 2};
  const auto with_32_banks = tw::detail::make_lds_graph(tw::xor_preshuffle_layout(tile, tw::lds_layer(64, 2, 128)));
  const auto with_64_banks = tw::detail::make_lds_graph(tw::xor_preshuffle_layout(tile, tw::lds_layer(64, 2, 256)));
  EXPECT_EQ(degree(gfx950::value, with_32_banks, operand_of(mfma_32x32x16)), 2);
  EXPECT_EQ(degree(gfx950::value, with_64_banks, operand_of(mfma_32x32x16)), 1);

  EXPECT_EQ(degree(gfx942::value, with_32_banks, operand_of(mfma_32x32x8_x2)), 1) << "where the constant comes from";
  // With rows of 64 bytes no number of rows serves both shapes.
  const auto both = [](index_t layer) {
    const auto layout = tw::detail::make_lds_graph(tw::xor_preshuffle_layout({64, 32, 2}, layer));
    return tw::max(degree(gfx950::value, layout, operand_of(mfma_32x32x16)),
                   degree(gfx950::value, layout, operand_of(mfma_16x16x32)));
  };
  EXPECT_EQ(both(1), 4);
  EXPECT_EQ(both(2), 2);
  EXPECT_EQ(both(4), 2);
  const auto found =
      tw::choose_lds_layout<gfx950>({64, 32, 2}, rows_of(64, 32), operand_of(mfma_32x32x16), operand_of(mfma_16x16x32));
  EXPECT_EQ(found.worst_degree, 1);
}

// -------- too short a period

TEST(DocsLdsMistakes, TooShortAPeriod) {
  // 64 rows of 128 halves in chunks of 8 bytes: chunk ^= row % period.
  const auto with_period = [](index_t period) {
    tw::swizzled_layout layout = tw::swizzled_rows({64, 128, 2}, 256, {}, 8);
    for (index_t bit = 1; bit < 64; bit *= 2) layout.flips.push_back(bit < period ? bit : 0);
    return tw::detail::make_lds_graph(layout);
  };
  const tw::lds_use read = operand_of(mfma_16x16x16);  // 16 rows, 8 bytes of each lane
  EXPECT_EQ(degree(gfx942::value, with_period(8), read), 2);
  EXPECT_EQ(degree(gfx942::value, with_period(16), read), 1);

  const auto who = tw::analyze_lds_access(gfx942::value, with_period(8), read.distribution, 2, read.kind);
  EXPECT_EQ(who.lanes[1] - who.lanes[0], 8) << "lanes i and i + 8";
  EXPECT_EQ(tw::choose_lds_layout<gfx942>({64, 128, 2}, read).worst_degree, 1);
}

// -------- a diagonal traversal

TEST(DocsLdsMistakes, DiagonalWalk) {
  // 32 x 32 words, the word's column XORed with the row. Lane l takes word (l, l).
  const tw::lds_tile tile{32, 32, 4};
  const tw::swizzled_layout xored = tw::swizzled_rows(tile, 128, {1, 2, 4, 8, 16}, 4);
  tw::lds_addresses diagonal{}, column{};
  for (index_t lane = 0; lane < 32; ++lane) {
    diagonal[lane] = xored.address(lane, 4 * lane);
    column[lane] = xored.address(lane, 0);
  }
  EXPECT_EQ(tw::lds_cost(sm90::value, arch::lds_op::read_b32, column).worst_degree, 1);
  EXPECT_EQ(tw::lds_cost(sm90::value, arch::lds_op::read_b32, diagonal).worst_degree, 32);

  // Lane bit i moves a row by (1 << i) * 128 bytes, a column by (1 << i) * 4,
  // the diagonal by both: each is a demand of the search.
  tw::detail::lds_layout_search search(tile, 4);
  for (const index_t bytes : {4, 128, 132}) {
    tw::array<unsigned, 6> moves{};
    for (index_t bit = 0; bit < 5; ++bit) moves[bit] = unsigned(bytes << bit);
    search.require(sm90::value.find(arch::lds_op::read_b32)->readings[0], 4, moves);
  }
  tw::swizzled_layout found;
  ASSERT_TRUE(search.find(128, 0, found));
  for (index_t lane = 0; lane < 32; ++lane) {
    diagonal[lane] = found.address(lane, 4 * lane);
    column[lane] = found.address(lane, 0);
  }
  EXPECT_EQ(tw::lds_cost(sm90::value, arch::lds_op::read_b32, column).worst_degree, 1);
  EXPECT_EQ(tw::lds_cost(sm90::value, arch::lds_op::read_b32, diagonal).worst_degree, 1);
}

// -------- elements of two bytes

TEST(DocsLdsMistakes, ElementsOfTwoBytes) {
  // The result of a 16x16 instruction goes to 64 rows of 64 halves, element by element, and is read by rows.
  const tw::lds_use write_c{tw::encoding_of(arch::describe(mfma_16x16x16).c), kind::write};
  const tw::lds_use read_rows{rows_of(64, 64).distribution, kind::read};
  const tw::tensor_graph plain = tw::plain_layout({64, 64, 2});
  EXPECT_EQ(degree(gfx950::value, plain, write_c), 2);
  EXPECT_EQ(degree(gfx950::value, plain, read_rows), 1);

  const auto found = tw::choose_lds_layout<gfx942, gfx950>({64, 64, 2}, write_c, read_rows);
  EXPECT_EQ(found.worst_degree, 1);
  const auto who = tw::analyze_lds_access(gfx950::value, plain, write_c.distribution, 2, kind::write);
  EXPECT_EQ(arch::access_bytes(who.op), 2);
  EXPECT_EQ(who.coordinates[1][0] - who.coordinates[0][0], 4) << "four rows apart, in the same 8 banks";
}

// -------- base tiles and ldmatrix

TEST(DocsLdsMistakes, BaseTilesAndLdmatrix) {
  const tw::tensor_graph base_tiles = tw::base_tile_layout({64, 32, 2}, 8, 4);  // 8 x 4 lanes: rows of 64 bytes
  const tw::lds_use own{tw::base_tile<tw::half_t, 8, 4>::encoding, kind::read}, matrices = operand_of(mma_m16n8k16_x2);
  EXPECT_EQ(degree(sm90::value, base_tiles, own), 1);
  EXPECT_EQ(degree(sm90::value, base_tiles, matrices), 4);

  const auto found = tw::choose_lds_layout<sm90>({64, 32, 2}, own, matrices);
  EXPECT_EQ(found.worst_degree, 1);
}

}  // namespace
