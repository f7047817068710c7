// SPDX-License-Identifier: MIT
// Grouped GEMM with narrow weights on the CPU emulator: every bit of C.
#include <tilewright/kernels/gemm/grouped/grouped_narrow.hpp>

#include "../hopper/check_narrow.hpp"

namespace tilewright::testing_narrow {
namespace {

template <class T, class Format, hopper_gemm_tile Tile, index_t K>
void expect_grouped(const shape& s) {
  using policy = grouped<hopper_narrow_policy<T, operand_major::k, Format, Tile, K>, group_kind::rows>;
  expect_narrow<policy, grouped_narrow_gemm<policy>>(s);
}

/// Groups without rows, of one row, and of more than a tile; rows of no group are not written.
TEST(GroupedNarrow, EveryGroupHasItsWeights) {
  constexpr hopper_gemm_tile tile{.m = 128, .n = 32, .swap_ab = true}, pair{
                                                                           .m = 128,
                                                                           .n = 32,
                                                                           .cluster_m = 2,
                                                                           .swap_ab = true,
                                                                       };
  expect_grouped<bfloat16_t, mxfp4_format, tile, 128>(
      {.m = 90, .n = 136, .k = 200, .beta = 1, .ends = {0, 37, 38, 38, 80}});
  expect_grouped<half_t, int4_zero_groups<64>, pair, 64>({.m = 70, .n = 264, .k = 136, .ends = {33, 70}});
  expect_grouped<bfloat16_t, int8_groups<>, tile, 128>({.m = 40, .n = 136, .k = 1100, .ends = {3, 3, 40}});
}

TEST(GroupedNarrow, PassesInExploredSchedules) {
  constexpr hopper_gemm_tile tile{.m = 128, .n = 32, .swap_ab = true};
  using policy = grouped<hopper_narrow_policy<bfloat16_t, operand_major::k, mxfp4_format, tile, 128>, group_kind::rows>;
  explore_narrow<policy, grouped_narrow_gemm<policy>>({.m = 40, .n = 128, .k = 200, .ends = {3, 3, 40}});
}

TEST(GroupedNarrow, RefusesWhatItCannotDo) {
  using policy = grouped<hopper_narrow_policy<bfloat16_t, operand_major::k, int4_groups<32>,
                                              hopper_gemm_tile{.m = 128, .n = 32, .swap_ab = true}, 64>,
                         group_kind::rows>;
  narrow_args args{};
  args.m = args.n = args.k = 64, args.lda = args.ldb = args.ldc = 64;
  EXPECT_STREQ(grouped_narrow_gemm<policy>::check(args), "there must be at least one group");
}

}  // namespace
}  // namespace tilewright::testing_narrow
