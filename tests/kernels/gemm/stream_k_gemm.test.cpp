// SPDX-License-Identifier: MIT
// Blocks that share the tiles of a last round.
#include <tilewright/kernels/gemm/stream_k_gemm.hpp>

#include "../explored.hpp"
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>
#include <tilewright/launch/launch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using base =
    gemm_policy<arch::gfx942, half_t, k, mn, 8, block_tile{64, 64, 32, 2, 2, arch::matrix_op::mfma_32x32x8_x2}>;
using deep = gemm_policy<arch::gfx950, half_t, k, k, 8, block_tile{16, 64, 64, 1, 2, arch::matrix_op::mfma_16x16x32},
                         multi_stage_pipeline<4>>;
using int_base = gemm_policy<arch::gfx1201, int8_t, k, k, 1,
                             block_tile{32, 32, 64, 1, 1, arch::matrix_op::wmma_16x16x16_b8_x2_gfx12}>;
struct with_epilogue : base {
  using epilogue = bias_and_relu;
};

/// Two launches, after each of which the counters are 0 again.
template <class Policy>
void expect_shared(const problem& p, index_t workers, index_t blocks) {
  SCOPED_TRACE(describe<Policy>(p) + ", workers " + std::to_string(workers));
  using kernel = stream_k_gemm<Policy>;
  gemm_case<Policy> gemm(p);
  gemm.args.split_k = workers;
  std::vector<char> workspace(std::size_t(kernel::workspace_bytes(gemm.args)), char(0xff));
  std::fill_n(workspace.begin(), 4096, char(0));
  gemm.args.workspace = workspace.data();
  ASSERT_STREQ(kernel::check(gemm.args), nullptr);
  EXPECT_EQ(kernel::grid(gemm.args).x, blocks);
  const auto c = gemm.c;
  for (int launch = 0; launch < 2; ++launch) {
    gemm.c = c;
    launch_blocks<Policy>(kernel::grid(gemm.args), [&] { kernel{}(gemm.args); });
    expect_result(gemm);
    EXPECT_EQ(std::count(workspace.begin(), workspace.begin() + 4096, char(0)), 4096);
  }
}

TEST(StreamKGemm, SharesTheLastRound) {
  // 2 x 2 tiles of 2 problems; a partial first k tile
  expect_shared<base>({.m = 72, .n = 72, .k = 88, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8}, 3, 6 + 3);
  // one tile, 5 k tiles, more workers than k tiles
  expect_shared<base>({.m = 64, .n = 64, .k = 136}, 7, 7);
  expect_shared<with_epilogue>({.m = 65, .n = 136, .k = 160}, 4, 4 + 4);
  expect_shared<deep>({.m = 33, .n = 64, .k = 456, .beta = 1}, 2, 2 + 2);
  expect_shared<int_base>({.m = 33, .n = 31, .k = 333, .alpha = 3, .beta = -1, .gap = 1}, 5, 5);
}

TEST(StreamKGemm, FullRoundsNeedNoWorkspace) {
  gemm_case<base> gemm({.m = 64, .n = 128, .k = 40});
  gemm.args.split_k = 2;
  ASSERT_STREQ(stream_k_gemm<base>::check(gemm.args), nullptr);
  EXPECT_EQ(stream_k_gemm<base>::workspace_bytes(gemm.args), 4096);
  launch_blocks<base>(stream_k_gemm<base>::grid(gemm.args), [&] { stream_k_gemm<base>{}(gemm.args); });
  expect_result(gemm);
}

// Whichever block is the last one of a tile.
TEST(StreamKGemm, PassesInExploredSchedules) {
  tilewright::testing_schedules::expect_in_explored_schedules(
      [] { expect_shared<base>({.m = 64, .n = 72, .k = 96}, 3, 3); });
}

TEST(StreamKGemm, Refusals) {
  gemm_args args{.m = 64, .n = 64, .k = 96, .lda = 96, .ldb = 64, .ldc = 64, .split_k = 2};
  using kernel = stream_k_gemm<base>;
  EXPECT_STREQ(kernel::check(args), "stream_k_gemm needs a workspace, of the kernel's workspace_bytes(args)");
  for (const index_t workers : {0, 1025}) {
    args.split_k = workers;
    EXPECT_STREQ(kernel::check(args),
                 "stream_k_gemm: split_k is the number of blocks that run at the same time, from 1 to 1024");
  }
  args = {.m = 1 << 22, .n = 1 << 16, .k = 1 << 12, .lda = 96, .ldb = 64, .ldc = 64, .split_k = 2};
  EXPECT_STREQ(kernel::check(args),
               "stream_k_gemm: there are 2^31 tiles along m, n and k or more; use a larger block tile, or gemm_kernel");
  args = {.m = 64, .n = 64, .k = 0, .lda = 96, .ldb = 64, .ldc = 64, .split_k = 2};
  EXPECT_STRNE(kernel::check(args), nullptr);
}

}  // namespace
}  // namespace tilewright::testing_gemm
