// SPDX-License-Identifier: MIT
// Grouped and block-scaled products of portable kernels, for AMD GPUs, on the CPU emulator.
#include "check_grouped.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using gfx942 = arch::gfx942;

constexpr block_tile tile_16{64, 64, 32, 2, 2, arch::matrix_op::mfma_32x32x8_x2};
using forward = grouped<gemm_policy<gfx942, bfloat16_t, k, k, 8, tile_16>, group_kind::rows>;
using backward_w = grouped<gemm_policy<gfx942, half_t, mn, mn, 1, tile_16>, group_kind::k>;

struct e4m3 : gemm_policy<gfx942, fp8_fnuz_t, k, k, 16> {
  using result_type = half_t;
};
using scaled = block_scaled<e4m3>;
using scaled_rows = grouped<scaled, group_kind::rows>;

// A kernel for several targets has one name on the host.
template <class Arch>
using on_target = grouped_gemm_kernel<grouped<gemm_policy<Arch, half_t, k, k, 8>, group_kind::rows>>;
static_assert(std::is_same_v<on_target<gfx942>::device_args, on_target<arch::gfx90a>::device_args>);

TEST(GroupedPortable, Rows) {
  expect_grouped<forward>({.counts = {3, 0, 129, 1, 0, 64}, .n = 136, .k = 72, .after = 5});
  expect_grouped<forward>({.counts = {5, 0, 80}, .n = 8, .k = 8, .slot_rows = 80, .alpha = 0.5f, .beta = 2});
}
TEST(GroupedPortable, GroupsAlongK) {
  expect_grouped<backward_w>({.counts = {3, 0, 33}, .n = 67, .k = 70, .after = 5, .beta = 1});
}
TEST(GroupedPortable, GroupsAlongKHaveResidualsOfTheirOwn) {
  struct adds : gemm_policy<gfx942, half_t, mn, mn, 1, tile_16> {
    using epilogue = tilewright::epilogue::from_args;
  };
  const std::vector<half_t> operand(8);
  std::vector<half_t> c(2 * 64), residual(2 * 64);
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = half_t(float(i));
  const index_t ends[] = {0, 0};  // without rows of k
  grouped_args args{{.a = operand.data(), .b = operand.data(), .c = c.data(), .m = 8, .n = 8, .k = 1}};
  args.lda = args.ldb = args.ldc = args.ld_residual = 8;
  args.batch_stride_c = args.batch_stride_residual = 64;
  args.residual = residual.data();
  args.groups = 2;
  args.ends = ends;
  launch<grouped_gemm_kernel<grouped<adds, group_kind::k>>>(args);
  for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(float(c[i]), float(i));
}
TEST(GroupedPortable, BlockScaled) {
  expect_grouped<scaled_rows, gemm_kernel<scaled>>({.counts = {130}, .n = 144, .k = 272});
  expect_grouped<scaled_rows>({.counts = {5, 0, 130}, .n = 144, .k = 144, .rows_of_scales_are_contiguous = true});
}
TEST(GroupedPortable, ArgumentsThatItRefuses) {
  EXPECT_EQ(refusal<scaled_rows>([](block_scaled_args&) {}), "");
  EXPECT_EQ(refusal<scaled_rows>([](block_scaled_args& a) { a.groups = 0; }), "there must be at least one group");
  EXPECT_NE((refusal<scaled_rows, gemm_kernel<scaled>>([](block_scaled_args& a) { a.b_scales = nullptr; })), "");
}

}  // namespace
}  // namespace tilewright::testing_gemm
