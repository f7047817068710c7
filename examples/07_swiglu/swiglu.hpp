// SPDX-License-Identifier: MIT
// Two products that share A, and an epilogue of your own: C = silu(A G) * (A U + bias), on every pipeline.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/tilewright.hpp>

namespace swiglu_example {

namespace tw = tilewright;
using tw::half_t, tw::index_t;
using enum tw::operand_major;

// What the epilogue needs beyond a product's arguments.
struct swiglu_args : tw::gemm_args {
  const half_t* up_bias = nullptr;  // n
};

// Called with the sums of both products, f32 in registers: a thread holds the same elements of each. C is what it
// leaves in the first.
struct gate_and_up {
  TILEWRIGHT_HD void operator()(auto& gate, auto& up, const auto& at, const swiglu_args& args) const {
    tw::tile_elementwise_inout([](float& x, float b) { x += b; }, up, tw::along<1>(at.along_n(args.up_bias)));
    tw::tile_elementwise_inout([](float& x, float y) { x = tw::activate<tw::activation::silu>(x) * y; }, gate, up);
  }
};

// G and U are contiguous along k; U starts args.product_stride_b elements after G.
template <class Base>
struct swiglu : Base {
  static constexpr index_t products = 2;
  using epilogue = gate_and_up;
  using args_type = swiglu_args;
};
template <class Arch>
using kernel = tw::gemm_kernel<swiglu<tw::gemm_policy<Arch, half_t, k, k, 8>>>;
using hopper_kernel =
    tw::gemm_kernel<swiglu<tw::gemm_policy<tw::arch::sm90, half_t, k, k, 8, tw::wgmma_tile<half_t>(128, 256),
                                           tw::warp_specialized_pipeline<>>>>;

}  // namespace swiglu_example
