// SPDX-License-Identifier: MIT
// An attention kernel for check_scratch.py: forward, gradients or decode, with head dimensions DIM and VALUE_DIM, and
// for decode_8bit elements CACHE of K and V.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/attention/backward/attention_backward.hpp>
#include <tilewright/kernels/attention/decode/attention_decode.hpp>
#include <tilewright/kernels/attention/forward/attention_forward.hpp>

namespace tw = tilewright;

#ifndef CACHE
#define CACHE tw::fp8_ocp_t
#endif

#if TILEWRIGHT_DEVICE_PASS
struct forward_policy : tw::attention_policy<tw::arch::current, tw::half_t, DIM, VALUE_DIM> {};
#if DIM <= 256 && VALUE_DIM <= 256
struct gradients_policy : tw::attention_backward_policy<tw::arch::current, tw::half_t, DIM, VALUE_DIM> {};
struct gradients : tw::attention_backward<gradients_policy>::followed_by {};
#endif
struct decode_policy : tw::attention_decode_policy<tw::arch::current, tw::half_t, DIM, VALUE_DIM> {};
struct decode_8bit_policy
    : tw::attention_decode_policy<tw::arch::current, tw::half_t, DIM, VALUE_DIM,
                                  tw::detail::default_decode_waves(tw::arch::current::value, DIM, VALUE_DIM), CACHE> {};
struct forward : tw::attention_forward<forward_policy> {};
struct decode : tw::attention_decode<decode_policy> {};
struct decode_8bit : tw::attention_decode<decode_8bit_policy> {};
using args_type = KERNEL::args_type;
#else
using args_type = int;
#endif

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void attention([[maybe_unused]] const args_type args) {
#if TILEWRIGHT_DEVICE_PASS
  static_assert(KERNEL::block_size <= 256);
  KERNEL{}(args);
#endif
}
