// SPDX-License-Identifier: MIT
// Attention kernels, compiled for each GPU.
#include "attention_policies.hpp"

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void half_64([[maybe_unused]] tilewright::attention_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_forward<attention_test::half_64<tilewright::arch::current>>{}(args);
#endif
}

template <template <class> class Policy, class Arch, bool Exists>
TILEWRIGHT_HD void run_if([[maybe_unused]] const tilewright::attention_args& args) {
  if constexpr (Exists) tilewright::attention_forward<Policy<Arch>>{}(args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void fp8_64([[maybe_unused]] tilewright::attention_args args) {
#if TILEWRIGHT_DEVICE_PASS
  using arch = tilewright::arch::current;
  run_if<attention_test::fp8_64, arch, attention_test::has_fp8<arch>>(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(512) void ping_pong_64(
    [[maybe_unused]] tilewright::attention_args args) {
#if TILEWRIGHT_DEVICE_PASS
  using arch = tilewright::arch::current;
  run_if<attention_test::ping_pong_64, arch, attention_test::has_ping_pong<arch>>(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void bfloat16_96(
    [[maybe_unused]] tilewright::attention_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_forward<attention_test::bfloat16_96<tilewright::arch::current>>{}(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void half_512(
    [[maybe_unused]] tilewright::attention_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_forward<attention_test::half_512<tilewright::arch::current>>{}(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(64) void decode_half_512(
    [[maybe_unused]] tilewright::attention_decode_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_decode<attention_test::decode_half_512<tilewright::arch::current>>{}(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void decode_half_128(
    [[maybe_unused]] tilewright::attention_decode_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_decode<attention_test::decode_half_128<tilewright::arch::current>>{}(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void decode_combine_half_128(
    [[maybe_unused]] tilewright::attention_decode_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_decode<attention_test::decode_half_128<tilewright::arch::current>>::followed_by{}(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void decode_int8_64(
    [[maybe_unused]] tilewright::attention_decode_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_decode<attention_test::decode_int8_64<tilewright::arch::current>>{}(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void backward_bfloat16_64(
    [[maybe_unused]] tilewright::attention_backward_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_backward<attention_test::backward_bfloat16_64<tilewright::arch::current>>{}(args);
#endif
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void gradients_bfloat16_64(
    [[maybe_unused]] tilewright::attention_backward_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tilewright::attention_backward<attention_test::backward_bfloat16_64<tilewright::arch::current>>::followed_by{}(args);
#endif
}
