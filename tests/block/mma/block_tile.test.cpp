// SPDX-License-Identifier: MIT
// Block tiles: who owns what, which products follow each other without exchange.
#include "../../tile/on_cpu.hpp"

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum arch::matrix_op;
using namespace testing_tiles;

TEST(BlockTile, IsSoundWhenInstructionsTileItForEachWave) {
  static_assert(block_tile{128, 128, 32, 2, 2, mfma_32x32x8}.is_sound());
  static_assert(!block_tile{96, 128, 32, 2, 2, mfma_32x32x8}.is_sound());
  static_assert(!block_tile{128, 32, 32, 2, 2, mfma_32x32x8}.is_sound());
  static_assert(!block_tile{128, 128, 12, 2, 2, mfma_32x32x8}.is_sound());
  static_assert(block_tile{128, 128, 32, 2, 2, mfma_32x32x8}.block_size() == 256);
  static_assert(block_tile{128, 128, 32, 2, 4, mma_m16n8k16_x2}.block_size() == 256);
}

static_assert(reads_transposed(arch::gfx950::value, mfma_16x16x32) &&
              reads_transposed(arch::sm90::value, mma_m16n8k16_x2));
static_assert(!reads_transposed(arch::gfx942::value, mfma_16x16x16));

// Registers of C run along rows in memory: the last y of C is a run of columns,
// for every instruction that can be turned round.
TEST(BlockTile, RegistersOfCRunAlongColumns) {
  for (const arch::matrix_op op :
       {mfma_16x16x16, mfma_32x32x8, mfma_16x16x32, mfma_32x32x16, wmma_16x16x16_gfx12, mma_m16n8k16_x2}) {
    const arch::matrix_instruction i = arch::describe(op);
    const distribution_encoding c = detail::c_encoding({2 * i.m, 2 * i.n, i.k, 1, 1, op});
    bool found = false;
    for (const rh_id id : c.y) found = found || (id.major == 2 && c.stride(id) == 1 && c.length(id) >= 2);
    EXPECT_TRUE(found) << int(op);
  }
}

}  // namespace
}  // namespace tilewright
