// SPDX-License-Identifier: MIT
// Ready kernels on rows, compiled for each GPU.
#include "rows.hpp"

#if TILEWRIGHT_DEVICE_PASS
#define TILEWRIGHT_RUN(kernel, args) rows::kernel<tilewright::arch::current>{}(args)
#else
#define TILEWRIGHT_RUN(kernel, args)
#endif
using tilewright::half_t;

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void permute_16(
    [[maybe_unused]] rows::permute_16<tilewright::arch::gfx942>::device_args args) {
  TILEWRIGHT_RUN(permute_16, args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void permute_unaligned_16(
    [[maybe_unused]] rows::permute_unaligned_16<tilewright::arch::gfx942>::device_args args) {
  TILEWRIGHT_RUN(permute_unaligned_16, args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void permute_runs_16(
    [[maybe_unused]] rows::permute_runs_16<tilewright::arch::gfx942>::device_args args) {
  TILEWRIGHT_RUN(permute_runs_16, args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void swiglu_f16(
    [[maybe_unused]] rows::swiglu_f16<tilewright::arch::gfx942>::device_args args) {
  TILEWRIGHT_RUN(swiglu_f16, args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void mean_variance_f16(
    [[maybe_unused]] rows::mean_variance_f16<tilewright::arch::gfx942>::device_args args) {
  TILEWRIGHT_RUN(mean_variance_f16, args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void softmax_f16(
    [[maybe_unused]] tilewright::softmax_args<half_t> args) {
  TILEWRIGHT_RUN(softmax_f16, args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void rms_norm_f16(
    [[maybe_unused]] tilewright::norm_args<half_t> args) {
  TILEWRIGHT_RUN(rms_norm_f16, args);
}
