// SPDX-License-Identifier: MIT
// Kernels of models, compiled for a GPU with waves of 64, one with waves of 32, and NVIDIA's.
#include "models.hpp"

#if TILEWRIGHT_DEVICE_PASS
#define TILEWRIGHT_RUN(kernel, args) models::kernel<tilewright::arch::current>{}(args)
#else
#define TILEWRIGHT_RUN(kernel, args)
#endif
#define TILEWRIGHT_KERNEL(kernel, args_type)                                                                     \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(models::kernel<tilewright::arch::current>::block_size) void \
      kernel([[maybe_unused]] tilewright::args_type args) {                                                      \
    TILEWRIGHT_RUN(kernel, args);                                                                                \
  }

using half_norm_args = tilewright::norm_args<tilewright::half_t, tilewright::int8_t>;
TILEWRIGHT_KERNEL(norm_gradient, norm_gradient_args<tilewright::half_t>)
TILEWRIGHT_KERNEL(loss_and_gradient, cross_entropy_args<tilewright::half_t>)
TILEWRIGHT_KERNEL(scatter_f16, expert_rows_args<tilewright::half_t>)
TILEWRIGHT_KERNEL(combine_f16, expert_rows_args<tilewright::half_t>)
TILEWRIGHT_KERNEL(rotary_f16, rotary_args<tilewright::half_t>)
TILEWRIGHT_KERNEL(choose_f16, choose_experts_args<tilewright::half_t>)
TILEWRIGHT_KERNEL(count_by_expert, order_by_expert_args)
TILEWRIGHT_KERNEL(sum_by_expert, order_by_expert_args)
TILEWRIGHT_KERNEL(position_by_expert, order_by_expert_args)
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void layer_norm_128([[maybe_unused]] half_norm_args args) {
  TILEWRIGHT_RUN(layer_norm_128, args);
}
using half_quantise_args = tilewright::quantise_args<tilewright::half_t, tilewright::int8_t>;
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void swiglu_int8([[maybe_unused]] half_quantise_args args) {
  TILEWRIGHT_RUN(swiglu_int8, args);
}
