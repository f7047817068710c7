// SPDX-License-Identifier: MIT
// GEMM by two groups of waves that alternate at the matrix units.
#include "../check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/portable/ping_pong_pipeline.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using enum arch::matrix_op;

template <class Arch, class T, operand_major A, operand_major B, index_t Vector, block_tile Tile>
using policy = gemm_policy<Arch, T, A, B, Vector, Tile, ping_pong_pipeline>;

template <class Policy>
constexpr index_t slices = ping_pong_pipeline::slices_per_tile<Policy>();

TEST(PingPongPipeline, OnePhasePerTile) {
  using p = policy<arch::gfx942, half_t, k, mn, 8, block_tile{128, 128, 32, 2, 4, mfma_32x32x8_x2}>;
  static_assert(slices<p> == 1);
  expect_any_number_of_tiles<p>();
}
TEST(PingPongPipeline, TwoPhasesPerTile) {
  using p = policy<arch::gfx950, bfloat16_t, mn, k, 8, block_tile{64, 128, 64, 2, 4, mfma_32x32x16}>;
  static_assert(slices<p> == 2);
  expect_any_number_of_tiles<p>();
}
TEST(PingPongPipeline, SingleElements) {
  expect_all_gemms<policy<arch::gfx950, half_t, k, k, 1, block_tile{128, 64, 128, 4, 2, mfma_16x16x32}>>();
}

struct with_epilogue : policy<arch::gfx942, fp8_fnuz_t, k, k, 16, block_tile{64, 128, 128, 2, 4, mfma_32x32x16_b8_x2}> {
  using result_type = half_t;
  using epilogue = every_part;
};
TEST(PingPongPipeline, Fp8WithEpilogue) { expect_any_number_of_tiles<with_epilogue>(); }

}  // namespace
}  // namespace tilewright::testing_gemm
