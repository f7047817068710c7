// SPDX-License-Identifier: MIT
// Kernels of warp_specialized_pipeline on the CPU emulator: the first four of hopper_gemm_tiles, for each kind of
// operands.
#include "check_hopper_gemm.hpp"

namespace tilewright::testing_gemm {
namespace {

TEST(WarpSpecializedTiles, Tile128x256InPairsThatShareB) { expect_tile<0>(); }
TEST(WarpSpecializedTiles, Tile128x256Alone) { expect_tile<1>(); }
TEST(WarpSpecializedTiles, Tile128x176InPairsInTurns) { expect_tile<2>(); }
TEST(WarpSpecializedTiles, Tile160x128InPairsInTurns) { expect_tile<8>(); }

}  // namespace
}  // namespace tilewright::testing_gemm
