// SPDX-License-Identifier: MIT
// Block scales with a tile of 64 along k.
// EXPECT: block_scaled: the block tile must have 128 of k, and columns that divide 128
#include <tilewright/kernels/gemm/scaled/block_scaled_pipeline.hpp>

namespace tw = tilewright;
template struct tw::detail::block_scaled_pipeline<{128, 128, 64, 2, 2, tw::arch::matrix_op::mfma_32x32x16_b8_x2}, 1>;
