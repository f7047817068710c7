// SPDX-License-Identifier: MIT
// Kernels of warp_specialized_pipeline on the CPU emulator: each layout of the operands, without an epilogue, with one
// that is chosen at compile time, and with one that the arguments choose.
#include "check_hopper_gemm.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;

template <operand_major AMajor, operand_major BMajor, index_t Tile>
void expect_layout(const problem& p) {
  expect_hopper_gemm<gemm_hopper<half_t, AMajor, BMajor, hopper_gemm_tiles[Tile]>>(p);
  using fixed = gemm_hopper<half_t, AMajor, BMajor, hopper_gemm_tiles[Tile], half_t, every_part>;
  using flexible = gemm_hopper<half_t, AMajor, BMajor, hopper_gemm_tiles[Tile], half_t, epilogue::from_args>;
  expect_hopper_gemm<fixed>(p);
  hopper_gemm_case<fixed> wanted(p);
  hopper_gemm_case<flexible> gemm(p);
  gemm.args.activation = activation::relu;
  ASSERT_STREQ(gemm_kernel<flexible>::check(gemm.args), nullptr);
  launch_hopper_gemm<flexible>(gemm.args, {.check_lds = emulator::lds_checks::on});
  gemm.expected = wanted.expected;
  expect_result(gemm);
}

TEST(WarpSpecializedPipeline, AContiguousAlongK) {
  expect_layout<k, k, 6>({.m = 72, .n = 72, .k = 200, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8});
  expect_layout<k, mn, 2>({.m = 264, .n = 328, .k = 72, .gap = 8});
}
TEST(WarpSpecializedPipeline, AContiguousAlongM) {
  expect_layout<mn, k, 4>({.m = 200, .n = 136, .k = 136, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8});
  expect_layout<mn, mn, 8>({.m = 200, .n = 392, .k = 136, .gap = 8});
}

TEST(WarpSpecializedPipeline, EpiloguesReadPairsOfElements) {
  using policy = gemm_hopper<half_t, k, k, hopper_gemm_tiles[6], half_t, epilogue::from_args>;
  hopper_gemm_case<policy> gemm({.m = 64, .n = 64, .k = 64});
  gemm.args.bias = gemm.bias.data() + 1;
  EXPECT_NE(gemm_kernel<policy>::check(gemm.args), nullptr);
  gemm.args.bias = gemm.bias.data();
  gemm.args.ld_residual = 65;
  EXPECT_NE(gemm_kernel<policy>::check(gemm.args), nullptr);
  gemm.args.ld_residual = 64;
  EXPECT_EQ(gemm_kernel<policy>::check(gemm.args), nullptr);
}

/// A function of one's own for two products whose B is contiguous along n, which reads the old C, too.
struct two_products : gemm_hopper<half_t, k, mn, hopper_gemm_tile{.m = 128, .n = 256, .cluster_m = 2}> {
  static constexpr index_t products = 2;
  static constexpr auto epilogue = [](auto& first, auto& second, const auto& at, const auto& args) {
    tile_elementwise_inout([](float& x, float y) { x -= y; }, first, second);
    tilewright::epilogue::beta{}(first, at, args);
  };
};

void expect_two_products(const problem& p) {
  hopper_gemm_case<gemm_hopper<half_t, k, mn, hopper_gemm_tile{}>> gemm(p);
  const std::vector<half_t> old = gemm.c;
  gemm_args& args = gemm.args;
  std::vector<half_t> both(std::size_t(args.k * 288));
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = half_t(float(int(i * 7 % 5) - 2));
  args.b = both.data();
  args.ldb = 288;
  args.product_stride_b = 140;
  EXPECT_NE(gemm_kernel<two_products>::check(args), nullptr) << "not 16 bytes";
  args.product_stride_b = 144;
  const auto with_c_at = [&](half_t* c) {
    gemm_args g = args;
    g.c = c;
    return gemm_kernel<two_products>::check(g);
  };
  EXPECT_STREQ(with_c_at(both.data() + 144), "C may share memory with an operand, which other blocks still read");
  launch_hopper_gemm<two_products>(args, {.workers = 1, .check_lds = emulator::lds_checks::on});
  for (index_t i = 0; i < args.m; ++i) {
    for (index_t j = 0; j < args.n; ++j) {
      float sum = 0;
      for (index_t l = 0; l < args.k; ++l) {
        const half_t* row = &both[std::size_t(l * 288)];
        sum += float(gemm.a_at(0, i, l)) * (float(row[j]) - float(row[144 + j]));
      }
      const auto at = std::size_t(i * args.ldc + j);
      ASSERT_EQ(float(gemm.c[at]), float(half_t(sum + 2 * float(old[at])))) << i << ", " << j;
    }
  }
}

TEST(WarpSpecializedPipeline, TwoProducts) { expect_two_products({.m = 264, .n = 136, .k = 136, .beta = 2, .gap = 8}); }
TEST(WarpSpecializedPipeline, TwoProductsPassInExploredSchedules) {
  testing_schedules::expect_in_explored_schedules(
      [] { expect_two_products({.m = 136, .n = 136, .k = 72, .beta = 2, .gap = 8}); });
}

}  // namespace
}  // namespace tilewright::testing_gemm
