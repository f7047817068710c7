// SPDX-License-Identifier: MIT
// A tile of 24 rows by instructions of 16; more instructions than there are.
// EXPECT: block_gemm: the block tile is not a whole number of matrix instructions for each wave
// EXPECT: block_gemm: a wave issues fewer instructions; see matrix_instructions_per_step and num_k_steps
#include <tilewright/mma/block_gemm.hpp>

namespace tw = tilewright;

constexpr tw::block_tile tile{24, 16, 16, 1, 1, tw::arch::matrix_op::mfma_16x16x16};
constexpr tw::block_tile sound{16, 16, 16, 1, 1, tw::arch::matrix_op::mfma_16x16x16};
void f(tw::static_distributed_tensor<float, tw::tile_distribution<tw::detail::c_encoding(sound)>>& c,
       const tw::static_distributed_tensor<tw::half_t, tw::tile_distribution<tw::detail::a_encoding(sound)>>& a,
       const tw::static_distributed_tensor<tw::half_t, tw::tile_distribution<tw::detail::b_encoding(sound)>>& b) {
  tw::block_gemm<tile>(c, a, b);
  tw::block_gemm<sound, 1, 1>(c, a, b);
}
