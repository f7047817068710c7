// SPDX-License-Identifier: MIT
// COMPILERS: gfx942
// gfx950's matrix instruction on gfx942.
// EXPECT: block_gemm: this target does not have the matrix instruction for these elements
#include <tilewright/block/mma/block_gemm.hpp>

namespace tw = tilewright;

constexpr tw::block_tile tile{32, 32, 32, 1, 1, tw::arch::matrix_op::mfma_32x32x16};
TILEWRIGHT_HD void f(tw::static_distributed_tensor<float, tw::c_distribution<tile>>& c,
                     const tw::static_distributed_tensor<tw::half_t, tw::a_distribution<tile>>& a,
                     const tw::static_distributed_tensor<tw::half_t, tw::b_distribution<tile>>& b) {
  tw::block_gemm<tile>(c, a, b);
}
