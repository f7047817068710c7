// SPDX-License-Identifier: MIT
// Hopper GEMM kernels on the CPU backend: the first four of hopper_tiles, for each kind of operands.
#include "check_hopper.hpp"

namespace tilewright::testing_gemm {
namespace {

TEST(HopperTiles, Tile128x256InPairsThatShareB) { expect_tile<0>(); }
TEST(HopperTiles, Tile128x256Alone) { expect_tile<1>(); }
TEST(HopperTiles, Tile256x160InPairsThatShareA) { expect_tile<2>(); }
TEST(HopperTiles, Tile192x192WithThreeConsumers) { expect_tile<3>(); }

}  // namespace
}  // namespace tilewright::testing_gemm
