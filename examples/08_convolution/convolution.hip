// SPDX-License-Identifier: MIT
// The same kernel for GPUs: launch it with kernel::grid(args) blocks, after kernel::check(args) found nothing wrong.
#include "convolution.hpp"

#include <tilewright/core/arch/current.hpp>

using kernel = convolution_example::kernel<tilewright::arch::current>;

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(kernel::block_size) void convolution(
    [[maybe_unused]] convolution_example::prepared_args args) {
#if TILEWRIGHT_DEVICE_PASS
  kernel{}(args);
#endif
}
