// SPDX-License-Identifier: MIT
// Gradients of attention in half_t, head dimension ISA_HEAD_DIM.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/attention/backward/attention_backward.hpp>

namespace tw = tilewright;

#if TILEWRIGHT_DEVICE_PASS
struct policy : tw::attention_backward_policy<tw::arch::current, tw::half_t, ISA_HEAD_DIM> {};
using kernel = tw::attention_backward<policy>::followed_by;
#endif

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void gradients(
    [[maybe_unused]] const tw::attention_backward_args args) {
#if TILEWRIGHT_DEVICE_PASS
  static_assert(kernel::block_size <= 256);
  kernel{}(args);
#endif
}
