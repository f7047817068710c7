// SPDX-License-Identifier: MIT
// Policies beyond the program's: other elements, fused epilogues, split k, and tiles of 256 x 256; for kernels and for their tests.
#pragma once

#include <tilewright/gemm/gemm_kernel.hpp>

namespace policies {

namespace tw = tilewright;
using tw::operand_major;

template <class Arch>
using f16 = tw::gemm_policy<Arch, tw::half_t, operand_major::k, operand_major::mn, 8>;

template <class Arch>
struct fused : tw::gemm_policy<Arch, tw::half_t, operand_major::k, operand_major::k, 1> {
  static constexpr tw::epilogue_options epilogue{.scale = true,
                                                 .row_scale = true,
                                                 .column_scale = true,
                                                 .bias = true,
                                                 .activation = tw::activation::gelu,
                                                 .residual = true};
  static constexpr tw::grid_order order{.curve = tw::grid_curve::hilbert, .dies = 3};
};

template <class Arch>
struct reducing : f16<Arch> {
  static constexpr tw::epilogue_options epilogue{.bias = true, .activation = tw::activation::relu};
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::workspace;
};

template <class Arch>
struct adding : f16<Arch> {
  using result_type = float;
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::atomic;
};

template <class Arch>
using int8 = tw::gemm_policy<Arch, tw::int8_t, operand_major::mn, operand_major::k, 1>;

template <class Arch>
struct fp8
    : tw::gemm_policy<Arch,
                      std::conditional_t<Arch::value.fp8 == tw::arch::fp8_kind::fnuz, tw::fp8_fnuz_t, tw::fp8_ocp_t>,
                      operand_major::k, operand_major::mn, 16> {
  using result_type = tw::half_t;
};

// CDNA only.
template <class Arch>
using f32 = tw::gemm_policy<Arch, float, operand_major::k, operand_major::k, 4>;
template <class Arch>
using large = tw::gemm_policy<Arch, tw::half_t, operand_major::k, operand_major::k, 8,
                              tw::block_tile{256, 256, 64, 2, 4, tw::default_block_tile<Arch, tw::half_t>().op}>;

}  // namespace policies
