// SPDX-License-Identifier: MIT
// Blocks that share tiles of C.
#include "../explored.hpp"
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/warp_specialized_pipeline.hpp>
#include <tilewright/launch/launch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using base =
    gemm_policy<arch::gfx942, half_t, k, mn, 8, block_tile{64, 64, 32, 2, 2, arch::matrix_op::mfma_32x32x8_x2}>;
using int_base = gemm_policy<arch::gfx1201, int8_t, k, k, 1,
                             block_tile{32, 32, 64, 1, 1, arch::matrix_op::wmma_16x16x16_b8_x2_gfx12}>;

template <class Base>
struct reducing : Base {
  static constexpr split_k_kind split_k = split_k_kind::workspace;
};
template <class Base>
struct fixing : Base {
  static constexpr split_k_kind split_k = split_k_kind::fix_up;
};
struct fixing_with_epilogue : fixing<base> {
  using epilogue = bias_and_relu;
};
struct reducing_with_epilogue : reducing<base> {
  using epilogue = bias_and_relu;
};
template <class Policy>
void expect_split_gemm(const problem& p, index_t parts) {
  SCOPED_TRACE(describe<Policy>(p) + ", parts " + std::to_string(parts));
  gemm_case<Policy> gemm(p);
  gemm.args.split_k = parts;
  using kernel = gemm_kernel<Policy>;
  std::vector<char> workspace(std::size_t(kernel::workspace_bytes(gemm.args)), char(0xff));
  gemm.args.workspace = workspace.data();
  ASSERT_STREQ(kernel::check(gemm.args), nullptr);
  EXPECT_EQ(kernel::grid(gemm.args).y, parts);
  launch_blocks<Policy>(kernel::grid(gemm.args), [&] { kernel{}(gemm.args); });
  launch<split_k_reduction<Policy>>(gemm.args);
  expect_result(gemm);
}

TEST(SplitK, WithAWorkspace) {
  expect_split_gemm<reducing<base>>({.m = 72, .n = 40, .k = 168, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8}, 4);
  expect_split_gemm<reducing<base>>({.m = 64, .n = 64, .k = 40}, 1);
  expect_split_gemm<reducing_with_epilogue>({.m = 65, .n = 136, .k = 320}, 10);
  expect_split_gemm<reducing<int_base>>({.m = 33, .n = 31, .k = 333, .alpha = 3, .beta = -1, .gap = 1}, 3);
}

/// The counters are 0 again after each launch.
template <class Policy>
void expect_fixed_up(const problem& p, index_t parts, int launches = 1) {
  SCOPED_TRACE(describe<Policy>(p) + ", parts " + std::to_string(parts));
  gemm_case<Policy> gemm(p);
  gemm.args.split_k = parts;
  using kernel = gemm_kernel<Policy>;
  std::vector<char> workspace(std::size_t(kernel::workspace_bytes(gemm.args)), char(0xff));
  std::fill_n(workspace.begin(), 4096, char(0));
  gemm.args.workspace = workspace.data();
  ASSERT_STREQ(kernel::check(gemm.args), nullptr);
  const auto c = gemm.c;
  for (int launch = 0; launch < launches; ++launch) {
    gemm.c = c;
    launch_blocks<Policy>(kernel::grid(gemm.args), [&] { kernel{}(gemm.args); });
    expect_result(gemm);
    EXPECT_EQ(std::count(workspace.begin(), workspace.begin() + 4096, char(0)), 4096);
  }
}

TEST(SplitK, ByTheLastBlockOfATile) {
  expect_fixed_up<fixing<base>>({.m = 72, .n = 40, .k = 88, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8}, 2, 2);
  expect_fixed_up<fixing<base>>({.m = 64, .n = 64, .k = 40}, 1);
  expect_fixed_up<fixing_with_epilogue>({.m = 65, .n = 8, .k = 160}, 5);
  expect_fixed_up<fixing<int_base>>({.m = 33, .n = 31, .k = 333, .alpha = 3, .beta = -1, .gap = 1}, 3);
}

// Whichever block is the last one.
TEST(SplitK, FixUpPassesInExploredSchedules) {
  tilewright::testing_schedules::expect_in_explored_schedules(
      [] { expect_fixed_up<fixing<base>>({.m = 64, .n = 8, .k = 96}, 3); });
}

TEST(SplitK, WorkspaceOfEachKernel) {
  gemm_args args{.m = 3, .n = 5, .k = 64, .batch = 2};
  EXPECT_EQ(gemm_kernel<base>::workspace_bytes(args), 0);
  args.split_k = 7;
  EXPECT_EQ(gemm_kernel<reducing<base>>::workspace_bytes(args), 4 * (1024 + 7 * 2 * 3 * 8));  // rows in whole vectors
  using hopper = gemm_policy<arch::sm90, half_t, k, k, 8, wgmma_tile<half_t>(128, 128), warp_specialized_pipeline<>>;
  EXPECT_EQ(gemm_kernel<hopper>::workspace_bytes(args), hopper_gemm_workspace::bytes);
  EXPECT_EQ((small_m_gemm<small_m_policy<half_t, k, k, 8, 8>>::workspace_bytes(args)), hopper_gemm_workspace::bytes);
}

TEST(SplitK, Refusals) {
  gemm_args args{.m = 64, .n = 64, .k = 96, .lda = 96, .ldb = 64, .ldc = 64, .beta = 1};
  args.split_k = 2;
  EXPECT_STREQ(gemm_kernel<base>::check(args), "this kernel does not split k; use a policy that does");
  EXPECT_STREQ(gemm_kernel<reducing<base>>::check(args), "split_k needs a workspace, of workspace_bytes(args)");
  args.split_k = 4;
  EXPECT_STREQ(gemm_kernel<reducing<base>>::check(args),
               "split_k is larger than the number of block tiles along k, or than 65535");
  args.split_k = 2;
  EXPECT_STREQ(gemm_kernel<fixing<base>>::check(args), "split_k needs a workspace, of workspace_bytes(args)");
  args.batch = 1025;
  args.batch_stride_c = 64 * 64;
  EXPECT_STREQ(gemm_kernel<fixing<base>>::check(args),
               "split_k_kind::fix_up takes 1024 tiles of C, of all problems; use a larger block tile, or a workspace");
  args.batch = 1;
  args.split_k = 0;
  EXPECT_STREQ(gemm_kernel<reducing<base>>::check(args), "split_k must be positive");
  args = {.m = 100'000'000, .n = 8, .k = 96, .lda = 96, .ldb = 8, .ldc = 8, .split_k = 2, .workspace = &args};
  EXPECT_STREQ(split_k_reduction<reducing<base>>::check(args),
               "adding up the splits of k would take 2^32 threads or more; use several launches");
}

}  // namespace
}  // namespace tilewright::testing_gemm
