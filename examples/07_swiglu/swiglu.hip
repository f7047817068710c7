// SPDX-License-Identifier: MIT
// The same kernel for GPUs: launch it with kernel::grid(args) blocks, after kernel::check(args) found nothing wrong.
#include "swiglu.hpp"

#include <tilewright/arch/current.hpp>

using kernel = swiglu_example::kernel<tilewright::arch::current>;

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(kernel::block_size, kernel::blocks_at_once) void gemm_swiglu(
    [[maybe_unused]] swiglu_example::swiglu_args args) {
#if TILEWRIGHT_DEVICE_PASS
  kernel{}(args);
#endif
}
