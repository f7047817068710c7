// SPDX-License-Identifier: MIT
// Loops of GEMM with narrow operands whose instructions have a budget; ISA_POLICY is one of the structs below.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/gemm/scaled/narrow_gemm.hpp>
#include <tilewright/kernels/gemm/scaled/scaled_mfma_pipeline.hpp>

namespace tw = tilewright;

template <class T, class Format>
struct weights {
  template <class Arch>
  struct on
      : tw::dequantising_policy<Arch, T, tw::plain_format<T>, Format, tw::detail::dequantising_tile<Arch, T>(128), 8> {
    using result_type = T;
  };
};
using int4_f16 = weights<tw::half_t, tw::int4_zero_groups<128, tw::half_t>>;
using int4_bf16 = weights<tw::bfloat16_t, tw::int4_zero_groups<128, tw::half_t>>;
using mxfp4_bf16 = weights<tw::bfloat16_t, tw::mxfp4_format>;

// Scaled matrix instructions of gfx950.
template <class A, class B>
struct scaled {
  template <class Arch>
  struct on : tw::scaled_mfma_policy<A, B> {
    using result_type = tw::bfloat16_t;
  };
};
using mxfp8 = scaled<tw::mxfp8_format, tw::mxfp8_e5m2_format>;
using mxfp4 = scaled<tw::mxfp4_format, tw::mxfp4_format>;
using mxfp6 = scaled<tw::mxfp6_e2m3_format, tw::mxfp6_e3m2_format>;
using mxfp8_mxfp4 = scaled<tw::mxfp8_format, tw::mxfp4_format>;

#if TILEWRIGHT_DEVICE_PASS
using policy = ISA_POLICY::on<tw::arch::current>;
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(ISA_BLOCK_SIZE) void gemm(policy::args_type args) {
  static_assert(tw::narrow_gemm<policy>::block_size == ISA_BLOCK_SIZE);
  tw::narrow_gemm<policy>{}(args);
}
#endif
