// SPDX-License-Identifier: MIT
// A matrix product of your own: C = relu(A B + bias), without bank conflicts on any target, or it does not compile.
#pragma once

#include <tilewright/tilewright.hpp>

namespace gemm_kernel_example {

namespace tw = tilewright;
using enum tw::operand_major;

// Elements of half_t; A and B contiguous along k (A row-major, B column-major), moved in vectors of 8. Block tile,
// pipeline and layouts in LDS are the target's defaults; a policy may replace each.
template <class Arch>
struct policy : tw::gemm_policy<Arch, tw::half_t, k, k, 8> {
  static constexpr tw::epilogue_options epilogue{.bias = true, .activation = tw::activation::relu};
};

template <class Arch>
struct kernel : tw::gemm_kernel<policy<Arch>> {
  static_assert(tw::require_conflict_free_gemm<policy<Arch>>());
};

}  // namespace gemm_kernel_example
