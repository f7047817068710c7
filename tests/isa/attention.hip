// SPDX-License-Identifier: MIT
// Attention forward with elements of type ISA_ELEMENT, head dimension ISA_HEAD_DIM.
#include <tilewright/arch/current.hpp>
#include <tilewright/attention/attention_forward.hpp>

namespace tw = tilewright;

#if TILEWRIGHT_DEVICE_PASS
struct policy : tw::attention_policy<tw::arch::current, tw::ISA_ELEMENT, ISA_HEAD_DIM> {};
using kernel = tw::attention_forward<policy>;
#endif

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void attention([[maybe_unused]] const tw::attention_args args) {
#if TILEWRIGHT_DEVICE_PASS
  static_assert(kernel::block_size <= 256);
  kernel{}(args);
#endif
}
