// SPDX-License-Identifier: MIT
// Ready kernels on rows, compiled for each GPU.
#include "rows.hpp"

#if TILEWRIGHT_DEVICE_PASS
#define TILEWRIGHT_RUN(kernel, args) rows::kernel<tilewright::arch::current>{}(args)
#else
#define TILEWRIGHT_RUN(kernel, args)
#endif
using tilewright::half_t;

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void transpose_f16(
    [[maybe_unused]] tilewright::transpose_args<half_t> args) {
  TILEWRIGHT_RUN(transpose_f16, args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void softmax_f16(
    [[maybe_unused]] tilewright::softmax_args<half_t> args) {
  TILEWRIGHT_RUN(softmax_f16, args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void rms_norm_f16(
    [[maybe_unused]] tilewright::norm_args<half_t> args) {
  TILEWRIGHT_RUN(rms_norm_f16, args);
}
