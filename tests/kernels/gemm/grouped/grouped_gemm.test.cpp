// SPDX-License-Identifier: MIT
// Grouped products on the CPU emulator: groups of any length, empty ones, slots, edges, what belongs to no group.
#include <tilewright/kernels/gemm/choice/grouped_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>

#include <tilewright/machine/emulator/launch.hpp>

#include "check_grouped.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;

// Two blocks that share A.
constexpr hopper_gemm_tile pair_tile{.m = 128, .n = 64, .cluster_n = 2},
    upper_tile{.m = 64, .n = 64, .cluster_m = 2, .consumers = 1};
using forward = grouped<gemm_hopper<bfloat16_t, k, k, pair_tile>, group_kind::rows>;
using backward_x = grouped<gemm_hopper<fp8_ocp_t, k, k, upper_tile, half_t>, group_kind::rows>;
using backward_w = grouped<gemm_hopper<half_t, mn, mn, pair_tile>, group_kind::k>;

// 40 groups: more than a wave has lanes.
std::vector<index_t> many_groups() {
  std::vector<index_t> counts(40, 0);
  for (const index_t g : {1, 2, 31, 32, 33, 38}) counts[std::size_t(g)] = 1 + 7 * (g % 5);
  return counts;
}

TEST(GroupedGemm, RowsOfAnyNumber) {
  expect_grouped<forward>({.counts = {3, 0, 129, 1, 0, 64}, .n = 136, .k = 3 * 64 + 8, .after = 5});
  expect_grouped<forward>({.counts = {0, 200, 0}, .n = 8, .k = 64, .alpha = 0.5f, .beta = 2});
}
TEST(GroupedGemm, ManyGroups) {
  expect_grouped<forward>({.counts = many_groups(), .n = 72, .k = 72}, {.workers = 1, .resident_clusters = 3});
  // More tiles for a block than its ring of work tiles has slots.
  expect_grouped<forward>({.counts = many_groups(), .n = 72, .k = 72}, {.workers = 1, .resident_clusters = 1});
}
// Tiles of the last round are split along k, alone or so that shares cross tiles, also back to an earlier wave of
// groups.
TEST(GroupedGemm, LastRoundIsSplit) {
  using one =
      grouped<gemm_hopper<bfloat16_t, k, k, hopper_gemm_tile{.m = 64, .n = 64, .consumers = 1}>, group_kind::rows>;
  const auto expect_split = [](std::vector<index_t> counts, index_t tiles, index_t resident, bool across_tiles) {
    const stream_k_schedule s = tilewright::detail::make_grouped_schedule(tiles, 24, resident, 2 * resident);
    EXPECT_GT(s.max_splits(), 1);
    EXPECT_EQ(s.ranges_cross_tiles(), across_tiles);
    expect_grouped<one>({.counts = counts, .n = 8, .k = 24 * 64, .beta = 1, .has_workspace = true},
                        {.workers = 3, .resident_clusters = resident});
  };
  expect_split({3, 0, 129}, 4, 3, false);
  expect_split(many_groups(), 6, 7, true);
}
TEST(GroupedGemm, PassesInExploredSchedules) {
  explore_grouped<forward>({.counts = {3, 0, 65}, .n = 72, .k = 136});
  explore_grouped<backward_w>({.counts = {3, 0, 70}, .n = 72, .k = 72});
  constexpr hopper_gemm_tile exchanged_pair{.m = 128, .n = 16, .cluster_n = 2, .swap_ab = true},
      alternating{.m = 64, .n = 72, .swap_ab = true, .ping_pong = true};
  explore_grouped<grouped<gemm_hopper<fp8_ocp_t, k, k, exchanged_pair, bfloat16_t>, group_kind::rows>>(
      {.counts = {5, 0, 20}, .n = 144, .k = 144});
  explore_grouped<grouped<gemm_hopper<bfloat16_t, k, k, alternating>, group_kind::rows>>(
      {.counts = {3, 0, 80}, .n = 72, .k = 136});
}
/// Exact tiles: columns in any multiple of 8, rows of C as wgmma's columns, alternating consumers; with an epilogue.
TEST(GroupedGemm, TilesOfTheFamily) {
  constexpr hopper_gemm_tile narrow{.m = 64, .n = 24, .cluster_m = 2, .consumers = 1},
      exchanged{.m = 64, .n = 40, .consumers = 1, .swap_ab = true},
      exchanged_pair{.m = 128, .n = 16, .cluster_n = 2, .swap_ab = true},
      alternating{.m = 64, .n = 72, .swap_ab = true, .ping_pong = true};
  const grouped_problem lengths{.counts = {3, 0, 129, 1, 0, 64}, .n = 136, .k = 136, .after = 5};
  grouped_problem adds = lengths;
  adds.beta = 1;
  expect_grouped<grouped<gemm_hopper<half_t, k, k, narrow>, group_kind::rows>>(adds);
  expect_grouped<grouped<gemm_hopper<half_t, k, mn, exchanged>, group_kind::rows>>(adds);
  expect_grouped<grouped<gemm_hopper<fp8_ocp_t, k, k, exchanged_pair, bfloat16_t>, group_kind::rows>>(
      {.counts = {5, 0, 20, 17}, .n = 144, .k = 144, .slot_rows = 20});
  expect_grouped<grouped<gemm_hopper<bfloat16_t, k, k, alternating>, group_kind::rows>>(lengths);
  expect_grouped<grouped<gemm_hopper<half_t, mn, mn, narrow>, group_kind::k>>(
      {.counts = {3, 0, 70}, .n = 72, .k = 136, .after = 5});
  const grouped_problem split{.counts = {3, 0, 60}, .n = 72, .k = 24 * 64, .beta = 1, .has_workspace = true};
  expect_grouped<grouped<gemm_hopper<bfloat16_t, k, k, exchanged>, group_kind::rows>>(
      split, {.workers = 3, .resident_clusters = 7});
}
TEST(GroupedGemm, Slots) {
  expect_grouped<backward_x>({.counts = {5, 0, 80, 70}, .n = 80, .k = 144, .slot_rows = 80, .beta = 1});
}
TEST(GroupedGemm, NoRowsAtAll) { expect_grouped<forward>({.counts = {0, 0}, .n = 8, .k = 8, .after = 4}); }
TEST(GroupedGemm, GroupsAlongK) {
  expect_grouped<backward_w>({.counts = {3, 0, 129, 64}, .n = 72, .k = 136, .after = 5});
  expect_grouped<backward_w>({.counts = {40, 0, 3}, .n = 72, .k = 8, .slot_rows = 40, .beta = 1});
}

// Two blocks that share B, and A in the last row of blocks of a group that has an odd number of them.
TEST(GroupedGemm, PairsInGroupsOfAnOddNumberOfRows) {
  constexpr hopper_gemm_tile pair{.m = 64, .n = 64, .cluster_m = 2, .consumers = 1},
      odd_slices{.m = 64, .n = 24, .cluster_m = 2, .consumers = 1};
  const grouped_problem lengths{.counts = {3, 0, 129, 128, 64}, .n = 136, .k = 5 * 64 + 8, .after = 5};
  expect_grouped<grouped<gemm_hopper<bfloat16_t, k, k, pair>, group_kind::rows>>(lengths);
  expect_grouped<grouped<gemm_hopper<bfloat16_t, k, mn, pair>, group_kind::rows>>(lengths);
  expect_grouped<grouped<gemm_hopper<half_t, k, k, odd_slices>, group_kind::rows>>(lengths);
  const grouped_problem split{.counts = {3, 0, 60}, .n = 200, .k = 24 * 64, .beta = 1, .has_workspace = true};
  expect_grouped<grouped<gemm_hopper<bfloat16_t, k, k, pair>, group_kind::rows>>(
      split, {.workers = 3, .resident_clusters = 7});
  explore_grouped<grouped<gemm_hopper<bfloat16_t, k, k, pair>, group_kind::rows>>(
      {.counts = {3, 0, 130}, .n = 72, .k = 136});
}
// Each block tile is in one pair; only those of odd last rows lie side by side, where a pair may have one tile.
TEST(GroupedGemm, NumbersOfPairs) {
  constexpr index_t cols = 5, block_rows = 64;
  const std::vector<index_t> counts{3, 0, 129, 128, 64}, block_rows_of{1, 0, 3, 2, 1};
  std::vector<index_t> ends;
  for (const index_t count : counts) ends.push_back(count + (ends.empty() ? 0 : ends.back()));
  grouped_args args{{.m = ends.back()}, index_t(counts.size())};
  args.ends = ends.data();
  std::vector<int> visits(counts.size() * 3 * (cols + 1));
  const auto visit = [&](index_t group, index_t row, index_t col) {
    ++visits[std::size_t((group * 3 + row) * (cols + 1) + col)];
  };
  emulator::launch({.target = &arch::sm90::value, .grid = {1, 1, 1}, .block_size = 32}, [&] {
    tilewright::detail::row_group_iterator<32, block_rows, true> pairs(args, {cols, 2});
    const index_t tiles = pairs.num_tiles();
    EXPECT_EQ(tiles, 3 + (5 + 3) + 5 + 3);
    for (index_t i = 0; i < tiles; ++i) {
      tilewright::detail::group_tile found{};
      EXPECT_TRUE(pairs.find(i, found));
      for (index_t rank = 0; rank < 2 && exec::lane_id() == 0; ++rank)
        visit(found.at.batch, found.at.row * 2 + (found.side_by_side ? 0 : rank),
              found.side_by_side ? found.at.col * 2 + rank : found.at.col);
    }
  });
  for (std::size_t g = 0; g < counts.size(); ++g)
    for (index_t row = 0; row < 3; ++row)
      for (index_t col = 0; col < cols; ++col)
        EXPECT_EQ(visits[(g * 3 + std::size_t(row)) * (cols + 1) + std::size_t(col)], row < block_rows_of[g])
            << "group " << g << ", row " << row << ", column " << col;
}

// Lengths that do not fit stay inside of A and C.
TEST(GroupedGemm, LengthsThatAreWrong) {
  grouped_case<forward> gemm({.counts = {3, 4}, .n = 8, .k = 8});
  gemm.ends = {-2, 1000};
  gemm.counts = {0, 7};
  gemm.begins = {0, 0};
  launch_and_expect<grouped_gemm_kernel<forward>>(gemm);
}

// A wide C takes wide tiles, a narrow one those that it fills.
TEST(GroupedGemm, ChoosesATile) {
  const auto chosen = [](index_t groups, index_t rows, index_t n, index_t k, bool is_scaled = false) {
    const grouped_args args{{.m = rows, .n = n, .k = k}, groups};
    return grouped_tiles[choose_grouped_tile(args, 132, is_scaled ? 1 : 2, is_scaled)];
  };
  EXPECT_EQ(chosen(8, 16384, 4096, 4096).n, 256);         // alone or in pairs, which take about as long
  EXPECT_EQ(chosen(64, 16000, 2048, 7168).cluster_m, 2);  // of which a last one has blocks side by side
  EXPECT_EQ(chosen(8, 16384, 1920, 4096), (hopper_gemm_tile{.m = 128, .n = 192, .cluster_m = 2}));
  for (const index_t groups : {0, 1})
    EXPECT_EQ(chosen(groups, 8192, 2112, 7168, true).n, 192);  // block-scaled, dense: eleven tiles, but nine of 256
}

TEST(GroupedGemm, ArgumentsThatItRefuses) {
  EXPECT_EQ(refusal<forward>([](grouped_args&) {}), "");
  EXPECT_EQ(refusal<forward>([](grouped_args& a) { a.groups = 0; }), "there must be at least one group");
  EXPECT_EQ(refusal<forward>([](grouped_args& a) { a.ends = nullptr; }), "groups need either ends or counts");
  EXPECT_EQ(refusal<forward>([](grouped_args& a) { a.counts = a.ends; }), "groups need either ends or counts");
  EXPECT_EQ(refusal<forward>([](grouped_args& a) { a.counts = a.ends, a.ends = nullptr, a.slot_rows = 3; }),
            "with counts, the rows of A (k, if groups divide k) must be groups times slot_rows");
  EXPECT_EQ(refusal<forward>([](grouped_args& a) { a.batch = 2, a.batch_stride_c = 800; }),
            "grouped GEMMs have no batch, and do not split k");
  EXPECT_NE(refusal<forward>([](grouped_args& a) { a.n = 9; }), "");
}

}  // namespace
}  // namespace tilewright::testing_gemm
