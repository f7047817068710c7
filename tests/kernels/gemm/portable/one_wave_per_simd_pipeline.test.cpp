// SPDX-License-Identifier: MIT
// GEMM by one wave for each SIMD: two LDS buffers, and two tiles in flight in registers.
#include "../check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/portable/one_wave_per_simd_pipeline.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using enum arch::matrix_op;

template <class Arch, class T, operand_major A, operand_major B, index_t Vector, block_tile Tile>
using policy = gemm_policy<Arch, T, A, B, Vector, Tile, one_wave_per_simd_pipeline>;

TEST(OneWavePipeline, TwoStepsPerTile) {
  expect_any_number_of_tiles<policy<arch::gfx942, half_t, k, mn, 8, block_tile{128, 64, 32, 2, 2, mfma_32x32x8_x2}>>();
}
TEST(OneWavePipeline, FourStepsPerTile) {
  expect_any_number_of_tiles<
      policy<arch::gfx950, bfloat16_t, mn, k, 8, block_tile{128, 128, 64, 2, 2, mfma_32x32x16}>>();
}
TEST(OneWavePipeline, SingleElements) {
  expect_all_gemms<policy<arch::gfx90a, half_t, k, k, 1, block_tile{64, 64, 64, 2, 2, mfma_16x16x16_x2}>>();
}

struct with_epilogue : policy<arch::gfx942, fp8_fnuz_t, k, k, 16, block_tile{64, 128, 64, 2, 2, mfma_32x32x16_b8_x2}> {
  using result_type = half_t;
  using epilogue = every_part;
};
TEST(OneWavePipeline, Fp8WithEpilogue) { expect_any_number_of_tiles<with_epilogue>(); }

}  // namespace
}  // namespace tilewright::testing_gemm
