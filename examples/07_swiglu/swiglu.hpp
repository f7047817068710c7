// SPDX-License-Identifier: MIT
// Two products that share A, and an epilogue of your own: C = silu(A G) * (A U + bias).
#pragma once

#include <tilewright/tilewright.hpp>

namespace swiglu_example {

namespace tw = tilewright;
using tw::half_t;
using enum tw::operand_major;

// What the epilogue needs beyond a product's arguments.
struct swiglu_args : tw::gemm_args {
  const half_t* up_bias = nullptr;  // n
};

// Gets the sums of both products, f32 in registers: a thread holds the same elements of each. C is what it leaves in
// the first.
struct gate_and_up {
  TILEWRIGHT_HD void operator()(auto& gate, auto& up, const auto& at, const swiglu_args& args) const {
    tw::tile_elementwise_inout([](float& x, float b) { x += b; }, up, tw::along<1>(at.along_n(args.up_bias)));
    tw::tile_elementwise_inout([](float& x, float y) { x = tw::activate<tw::activation::silu>(x) * y; }, gate, up);
  }
};

template <class Arch>
struct policy : tw::gemm_policy<Arch, half_t, k, k, 8> {
  static constexpr tw::index_t products = 2;  // the rows of G, then product_stride_b elements further those of U
  using epilogue = gate_and_up;
  using args_type = swiglu_args;
};

template <class Arch>
struct kernel : tw::gemm_kernel<policy<Arch>> {
  static_assert(tw::require_conflict_free_gemm<policy<Arch>>());
};

}  // namespace swiglu_example
