// SPDX-License-Identifier: MIT
// Policies of GEMM with narrow operands whose kernels the emulator runs.
#pragma once

#include <tilewright/kernels/gemm/scaled/narrow_gemm.hpp>
#include <tilewright/kernels/gemm/scaled/scaled_mfma_pipeline.hpp>

namespace narrow_policies {

namespace tw = tilewright;

template <class Policy>
struct to_float : Policy {
  using result_type = float;
};
template <class Arch, class A, class B, tw::index_t M = 128>
using decoded = to_float<
    tw::dequantising_policy<Arch, tw::bfloat16_t, A, B, tw::detail::dequantising_tile<Arch, tw::bfloat16_t>(M)>>;
using plain = tw::plain_format<tw::bfloat16_t>;

template <class Arch>
struct int4 : decoded<Arch, plain, tw::int4_zero_groups<64, tw::half_t>> {};
template <class Arch>
struct small_m : decoded<Arch, plain, tw::nvfp4_format, 1> {};
template <class Arch>
struct fp6 : decoded<Arch, tw::mxfp6_e2m3_format, tw::mxfp6_e3m2_format> {};
template <class Arch>
struct mixed : decoded<Arch, tw::mxfp8_format, tw::mxfp4_format> {};

// gfx950's scaled matrix instructions: both shapes, both widths of elements, and a mixture.
struct scaled_8x4 : to_float<tw::scaled_mfma_policy<tw::mxfp8_format, tw::mxfp4_format>> {};
struct scaled_4x4 : to_float<tw::scaled_mfma_policy<tw::mxfp4_format, tw::mxfp4_format,
                                                    tw::scaled_mfma_tile<tw::mxfp4_format, tw::mxfp4_format>(128)>> {};
struct scaled_8x8
    : to_float<tw::scaled_mfma_policy<tw::mxfp8_e5m2_format, tw::mxfp8_format,
                                      tw::block_tile{64, 64, 256, 2, 2, tw::arch::matrix_op::mfma_16x16x128_b8}>> {};
struct scaled_4x8
    : to_float<tw::scaled_mfma_policy<tw::mxfp4_format, tw::mxfp8_format,
                                      tw::block_tile{64, 128, 256, 2, 2, tw::arch::matrix_op::mfma_16x16x128_b8}>> {};
struct scaled_6x6
    : to_float<tw::scaled_mfma_policy<tw::mxfp6_e2m3_format, tw::mxfp6_e3m2_format,
                                      tw::scaled_mfma_tile<tw::mxfp6_e2m3_format, tw::mxfp6_e3m2_format>(128)>> {};
struct scaled_6x8
    : to_float<tw::scaled_mfma_policy<tw::mxfp6_e3m2_format, tw::mxfp8_format,
                                      tw::block_tile{64, 128, 256, 2, 2, tw::arch::matrix_op::mfma_16x16x128_b8}>> {};

}  // namespace narrow_policies
