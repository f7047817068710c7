// SPDX-License-Identifier: MIT
// GEMM kernels for AMD GPUs whose copies to LDS bypass registers:
// the swizzle is applied to the addresses in global memory.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;
using enum operand_major;

/// Fewer tiles along k than stages, as many, and more, of which the first is partial or not.
template <class Policy>
void expect_any_number_of_tiles() {
  constexpr index_t step = Policy::tile.k, v = Policy::vector;
  for (index_t tiles = 1; tiles <= 2 * Policy::pipeline::num_stages + 1; ++tiles)
    expect_gemm<Policy>({.m = 64 + v, .n = 64, .k = tiles * step - tiles % 2 * v, .beta = 1, .gap = v});
}

template <class Arch, class T, block_tile Tile, index_t Stages, index_t Vector = 16 / index_t(sizeof(T))>
using direct = gemm_policy<Arch, T, k, k, Vector, Tile, multi_stage_pipeline<Stages>>;

TEST(GemmDirectToLds, SixteenBytesAtOnce) {
  using policy = direct<arch::gfx950, half_t, block_tile{64, 64, 64, 2, 2, mfma_32x32x16}, 3>;
  static_assert(policy::wave_copy_bytes == 16);
  static_assert(require_conflict_free_gemm<policy>());
  expect_all_gemms<policy>();
  expect_any_number_of_tiles<policy>();
}

TEST(GemmDirectToLds, FourBytesAtOnce) {
  using policy = direct<arch::gfx942, half_t, block_tile{64, 64, 32, 2, 2, mfma_32x32x8_x2}, 4>;
  static_assert(policy::wave_copy_bytes == 4);
  static_assert(require_conflict_free_gemm<policy>());
  expect_all_gemms<policy>();
  expect_any_number_of_tiles<policy>();
  // Two elements are enough: rows need not have multiples of 16 bytes.
  using pairs = direct<arch::gfx90a, bfloat16_t, block_tile{64, 64, 32, 2, 2, mfma_32x32x8_x2}, 2, 2>;
  static_assert(require_conflict_free_gemm<pairs>());
  expect_gemm<pairs>({.m = 35, .n = 70, .k = 106, .alpha = 0.5f, .beta = 1, .batch = 2, .gap = 2});
}

// C passes LDS in parts of 32 or 64 columns.
TEST(GemmDirectToLds, ColumnsThatAreNoPowerOfTwo) {
  using policy = direct<arch::gfx950, half_t, block_tile{64, 160, 64, 2, 2, mfma_16x16x32}, 2>;
  static_assert(detail::result_stage<policy>::parts == 5);
  static_assert(require_conflict_free_gemm<policy>());
  expect_all_gemms<policy>();
  using large = direct<arch::gfx942, bf8_fnuz_t, block_tile{64, 192, 64, 2, 2, mfma_32x32x16_b8_x2}, 2>;
  static_assert(detail::result_stage<large>::parts == 3);
  expect_all_gemms<large>();
  expect_all_gemms<gemm_policy<arch::gfx1201, half_t, k, k, 8, block_tile{64, 96, 32, 2, 2, wmma_16x16x16_gfx12}>>();
}

TEST(GemmDirectToLds, OneStepPerTile) {
  using policy = direct<arch::gfx942, half_t, block_tile{128, 128, 16, 2, 2, mfma_32x32x8_x2}, 3>;
  expect_any_number_of_tiles<policy>();
}

TEST(GemmDirectToLds, OtherElements) {
  expect_any_number_of_tiles<direct<arch::gfx942, fp8_fnuz_t, block_tile{64, 64, 64, 2, 2, mfma_32x32x16_b8_x2}, 2>>();
  expect_any_number_of_tiles<direct<arch::gfx950, bf8_ocp_t, block_tile{64, 64, 128, 2, 2, mfma_32x32x64_b8}, 2>>();
  expect_any_number_of_tiles<direct<arch::gfx942, float, block_tile{64, 64, 32, 2, 2, mfma_32x32x2_b32_x4}, 2>>();
}

TEST(GemmDirectToLds, GoesThroughRegistersWhereTheTargetCannot) {
  using policy = direct<arch::gfx1100, half_t, block_tile{64, 64, 32, 2, 2, wmma_16x16x16_gfx11}, 2>;
  static_assert(!policy::copies_by_wave);
  expect_gemm<policy>({.m = 72, .n = 64, .k = 104, .beta = 1, .gap = 8});
}

}  // namespace
}  // namespace tilewright::testing_gemm
