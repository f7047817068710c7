// SPDX-License-Identifier: MIT
// Pads where no swizzle is free of conflicts, and tiles whose lengths are no powers of two.
#include "../distribution/copies.hpp"

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/lds/layout_padding.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum lds_access_kind;

/// Lanes go down a column, word by word: two waves take columns in turns.
constexpr distribution_encoding down_columns(index_t rows, index_t cols) {
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});
  e.p.push_back({});
  e.h[0].push_back(rows);
  e.h[1].push_back(cols / 2);
  e.h[1].push_back(2);
  e.p[0].push_back({2, 1});
  e.p[1].push_back({1, 0});
  e.y.push_back({2, 0});
  return e;
}

TEST(ChooseLdsPadding, CostsLessWhereNoSwizzleIsFree) {
  const lds_tile tile{32, 32, 4};
  const lds_use uses[] = {{copies::along_rows(32, 32, 1, 32, 4), write}, {down_columns(32, 32), read}};
  const arch::target* const target = &arch::sm90::value;
  const lds_layout_choice swizzle = choose_lds_layout(&target, 1, tile, uses, 2);
  EXPECT_EQ(swizzle.worst_degree, 4) << "vectors of 16 bytes stay whole";
  const detail::lds_uses_cost swizzled =
      detail::cost_of_uses(&target, 1, detail::make_lds_graph(swizzle.layout), 4, uses, 2);
  EXPECT_EQ(swizzled.cycles, 8 * 4 + 32 * 4);
  const detail::lds_padding_choice pad = choose_lds_padding(&target, 1, tile, uses, 2);
  EXPECT_EQ(pad.pad_bytes, 4);
  EXPECT_EQ(pad.cost.worst_degree, 1);
  EXPECT_EQ(pad.cost.cycles, 32 + 32) << "writes of single words take as many cycles as vectors";
}

TEST(ChooseLdsPadding, ServesRowsOfAnyLength) {
  constexpr lds_use read_columns{down_columns(32, 12), read};
  const detail::lds_padding_choice pad = choose_lds_padding<arch::gfx1100, arch::sm90>({32, 12, 4}, read_columns);
  EXPECT_EQ(pad.pad_bytes, 4);
  EXPECT_EQ(pad.cost.worst_degree, 1);
  EXPECT_EQ(pad.cost.cycles, 2 * 12);
}

TEST(ChooseLdsPadding, RefusesWhatNoPadMakesLegal) {
  const lds_use too_wide{down_columns(64, 32), read};
  const arch::target* const target = &arch::sm90::value;
  EXPECT_EQ(choose_lds_padding(&target, 1, {64, 32, 4}, &too_wide, 1).cost.cycles, 0) << "64 lanes";
}

// 96 rows are three times 32: windows of 32 rows, or a copy whose slowest factor is 3, lie in parts that are laid out
// alike.
TEST(ChooseLdsLayout, ServesPartsOfTilesOfAnyNumberOfRows) {
  constexpr lds_tile tile{96, 64, 2};
  constexpr block_tile window{32, 32, 64, 1, 1, arch::matrix_op::mfma_32x32x8_x2};
  constexpr lds_use read_window{detail::a_encoding(window, true), read};
  constexpr distribution_encoding copy = copies::along_rows(96, 64, 4, 64, 8);
  static_assert(copy.h[0][0] == 3 && copy.x_length(0) == 96);
  constexpr lds_use write_all{copy, write};
  const arch::target* const targets[] = {&arch::gfx942::value, &arch::gfx950::value};
  const lds_use uses[] = {write_all, read_window};
  lds_layout_choice choice = choose_lds_layout(targets, 2, tile, uses, 2);
  EXPECT_EQ(choice.worst_degree, 1);
  EXPECT_EQ(choice.layout.tile, tile);
  for (const lds_access_analysis& a : analyze_choice<arch::gfx942, arch::gfx950>(choice, write_all, read_window))
    EXPECT_TRUE(a.is_conflict_free());
  // The parts are alike, and each has its own bytes.
  for (index_t row = 0; row < 64; ++row) {
    for (index_t byte = 0; byte < 128; byte += 16)
      EXPECT_EQ(choice.layout.address(row + 32, byte), choice.layout.address(row, byte) + 32 * 128);
  }
  const tensor_graph layout = detail::make_lds_graph(choice.layout);
  for (index_t row = 0; row < 96; ++row) {
    const index_t at[] = {row, 24};
    index_t hidden[tensor_graph::max_hidden] = {};
    detail::lower_all(layout, nullptr, at, hidden);
    EXPECT_EQ(2 * hidden[0], choice.layout.address(row, 48)) << row;
  }
}

TEST(ChooseLdsLayout, RefusesWindowsThatCrossParts) {
  const arch::target* const target = &arch::gfx942::value;
  const lds_use over_64_rows{down_columns(64, 64), read};
  const lds_legality fault = check_lds_uses(&target, 1, {96, 64, 4}, &over_64_rows, 1);
  EXPECT_EQ(fault.fault, lds_fault::crosses_parts);
  EXPECT_EQ(fault.value, 64);
  EXPECT_EQ(fault.limit, 32);
  EXPECT_TRUE(check_lds_uses(&target, 1, {192, 64, 4}, &over_64_rows, 1).is_legal());
  EXPECT_EQ(check_lds_uses(&target, 1, {64, 96, 4}, &over_64_rows, 1).fault, lds_fault::not_powers_of_two)
      << "rows of 384 bytes";
}

}  // namespace
}  // namespace tilewright
