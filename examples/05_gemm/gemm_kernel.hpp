// SPDX-License-Identifier: MIT
// The kernel: C = relu(A B + bias), without LDS bank conflicts on any target, or it does not compile.
#pragma once

#include <tilewright/kernels/gemm.hpp>

namespace gemm_example {

namespace tw = tilewright;
using enum tw::operand_major;

// Elements of half_t. A and B are contiguous along k (A row-major, B column-major) and are loaded in vectors of 8.
// The block tile, the pipeline and the LDS layouts are the target's defaults; a policy can replace each.
template <class Arch>
struct policy : tw::gemm_policy<Arch, tw::half_t, k, k, 8> {
  using epilogue = tw::epilogue::chain<tw::epilogue::bias, tw::epilogue::activation<tw::activation::relu>>;
};

template <class Arch>
struct kernel : tw::gemm_kernel<policy<Arch>> {
  static_assert(tw::require_conflict_free_gemm<policy<Arch>>());
};

}  // namespace gemm_example
