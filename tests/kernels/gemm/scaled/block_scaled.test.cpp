// SPDX-License-Identifier: MIT
// Block-scaled products on the CPU emulator, dense and grouped: edges, both layouts of A's scales, scales that are not
// a number.
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>

#include "../grouped/check_grouped.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;

template <hopper_gemm_tile Tile, class Result>
using hopper = block_scaled<gemm_hopper<fp8_ocp_t, k, k, Tile, Result>>;
constexpr hopper_gemm_tile wide{.m = 128, .n = 256, .cluster_m = 2}, pair{.m = 128, .n = 128, .cluster_n = 2};
constexpr hopper_gemm_tile middle{.m = 128, .n = 192};
using wide_policy = hopper<wide, bfloat16_t>;
using pair_policy = hopper<pair, half_t>;

template <class Policy>
using in_groups = grouped<Policy, group_kind::rows>;

template <class Policy>
void expect_dense(const grouped_problem& p) {
  expect_grouped<in_groups<Policy>, gemm_kernel<Policy>>(p);
}

TEST(BlockScaled, Dense) {
  expect_dense<wide_policy>({.counts = {301}, .n = 264, .k = 5 * 128 + 16});  // scales of A in bulk copies
  expect_dense<wide_policy>({.counts = {8}, .n = 8, .k = 16, .rows_of_scales_are_contiguous = true, .beta = 1});
  expect_dense<pair_policy>({.counts = {200}, .n = 136, .k = 288, .alpha = 0.5f});
  expect_dense<pair_policy>({.counts = {100}, .n = 520, .k = 8 * 128});
  expect_dense<hopper<middle, half_t>>({.counts = {70}, .n = 456, .k = 304});  // tiles begin within scales
}
TEST(BlockScaled, Grouped) {
  expect_grouped<in_groups<wide_policy>>({.counts = {3, 0, 129, 64}, .n = 264, .k = 2 * 128, .after = 5});
  expect_grouped<in_groups<pair_policy>>(
      {.counts = {5, 0, 80, 70}, .n = 136, .k = 144, .slot_rows = 80, .rows_of_scales_are_contiguous = true});
}

/// A slice of columns may begin in one block of 128 and end in the next: in one slice, two, and three of a tile.
TEST(BlockScaled, TilesThatCrossBlocks) {
  constexpr hopper_gemm_tile narrow{.m = 64, .n = 48, .consumers = 1}, alone{.m = 128, .n = 112},
      two{.m = 128, .n = 160, .cluster_m = 2}, three{.m = 64, .n = 144, .consumers = 1}, widest{.m = 128, .n = 240};
  expect_dense<hopper<narrow, bfloat16_t>>({.counts = {70}, .n = 456, .k = 304});
  expect_dense<hopper<alone, half_t>>({.counts = {130}, .n = 456, .k = 304, .beta = 1});
  expect_dense<hopper<two, bfloat16_t>>({.counts = {70}, .n = 664, .k = 304});
  expect_dense<hopper<widest, half_t>>({.counts = {70}, .n = 488, .k = 144});
  expect_grouped<in_groups<hopper<three, half_t>>>({.counts = {3, 0, 70}, .n = 456, .k = 304});
}

TEST(BlockScaled, PassesInExploredSchedules) {
  explore_grouped<in_groups<pair_policy>, gemm_kernel<pair_policy>>({.counts = {100}, .n = 136, .k = 3 * 128});
  explore_grouped<in_groups<wide_policy>>({.counts = {3, 0, 9}, .n = 264, .k = 2 * 128});
  explore_grouped<in_groups<hopper<hopper_gemm_tile{.m = 64, .n = 144, .consumers = 1}, half_t>>>(
      {.counts = {3, 0, 9}, .n = 288, .k = 2 * 128});
}

// A scale that is not a number, or infinite, spoils its row alone.
TEST(BlockScaled, ScalesThatAreNoNumbers) {
  using policy = in_groups<pair_policy>;
  grouped_case<policy> gemm({.counts = {40, 30}, .n = 8, .k = 256});
  gemm.a_scales[2] = __builtin_nanf("");
  gemm.a_scales[5] = __builtin_huge_valf();
  launch_and_expect<grouped_gemm_kernel<policy>>(gemm);
}

TEST(BlockScaled, ArgumentsThatItRefuses) {
  const auto refused = [](auto change) { return refusal<in_groups<pair_policy>, gemm_kernel<pair_policy>>(change); };
  EXPECT_EQ(refused([](block_scaled_args&) {}), "");
  EXPECT_EQ(refused([](block_scaled_args& a) { a.a_scales = nullptr; }),
            "block-scaled GEMMs need a_scales and b_scales, of which one is null");
  EXPECT_NE(refused([](block_scaled_args& a) { a.ld_b_scales = 0; }), "");
  EXPECT_NE(refused([](block_scaled_args& a) { a.row_stride_a_scales = 1 << 30; }), "");
}

}  // namespace
}  // namespace tilewright::testing_gemm
