// SPDX-License-Identifier: MIT
// Two waves for wgmma; an operand with another length; A with more rows than its warpgroups have; C that is longer than
// k.
// EXPECT: block_gemm: operands in LDS as wgmma wants them need a tile with waves_m = 4 for each warpgroup
// EXPECT: block_gemm: the operands in LDS are not m x k and n x k of the block tile
// EXPECT: block_gemm: wgmma with A in registers needs a tile with 64 rows for each warpgroup
// EXPECT: block_gemm: the accumulators do not have the distribution c_distribution<tile>
// EXPECT: wgmma_tile_in_registers: C of a product becomes A of the next one if the tile has as many rows
#include <tilewright/block/mma/wgmma_gemm.hpp>

namespace tw = tilewright;
using tw::half_t;

constexpr tw::block_tile tile{64, 64, 64, 4, 1, tw::arch::matrix_op::wgmma_k16};
constexpr tw::block_tile narrow{64, 64, 64, 2, 1, tw::arch::matrix_op::wgmma_k16};
constexpr tw::block_tile tall{128, 64, 64, 4, 1, tw::arch::matrix_op::wgmma_k16};
constexpr tw::block_tile longer{64, 64, 128, 4, 1, tw::arch::matrix_op::wgmma_k16};
constexpr tw::wgmma_operand rows_64{64, 2, true}, rows_128{128, 2, true};
template <tw::block_tile Tile>
using sums = tw::static_distributed_tensor<float, tw::c_distribution<Tile>>;

void f(sums<tile>& c, sums<tall>& d, tw::wgmma_tile_in_lds<rows_64> a, tw::wgmma_tile_in_lds<rows_128> b) {
  tw::block_gemm<narrow, half_t>(c, a, a, false);
  tw::block_gemm<tile, half_t>(c, a, b, false);
  tw::wgmma_tile_in_registers<tall, half_t> in_registers;
  tw::block_gemm(d, in_registers, a, false);
  tw::wgmma_tile_in_registers<longer, half_t> too_long;
  too_long.assign(c);
}
