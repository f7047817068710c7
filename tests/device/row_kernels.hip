// SPDX-License-Identifier: MIT
// Kernels that work on rows, compiled for each GPU.
#include "row_kernels.hpp"

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void softmax([[maybe_unused]] row_kernels::softmax_args args) {
#if TILEWRIGHT_DEVICE_PASS
  row_kernels::softmax<tilewright::arch::current::value.wave_size>{}(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void rms_norm(
    [[maybe_unused]] row_kernels::rms_norm_args args) {
#if TILEWRIGHT_DEVICE_PASS
  row_kernels::rms_norm<tilewright::arch::current::value.wave_size>{}(args);
#endif
}
