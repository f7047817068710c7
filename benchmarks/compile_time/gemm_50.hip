// SPDX-License-Identifier: MIT
// Fifty GEMM kernels in one program: two element types, all orders of the operands, vectors and single elements, four
// block tiles, and two with other elements.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

template <class T, tw::operand_major A, tw::operand_major B, int Vector, int M, int N>
struct policy {
  template <class Arch>
  static constexpr tw::block_tile tile{M, N, 64, 2, 2, tw::default_block_tile<Arch, T>().op};
  template <class Arch>
  using on = tw::gemm_policy<Arch, T, A, B, Vector, tile<Arch>>;
};
template <class T>
struct default_tile {
  template <class Arch>
  using on = tw::gemm_policy<Arch, T, k, k, 16 / sizeof(T)>;
};

template <class Policy>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void gemm([[maybe_unused]] tw::gemm_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tw::gemm_kernel<typename Policy::template on<tw::arch::current>>{}(args);
#endif
}

#define KERNEL(...) template TILEWRIGHT_GLOBAL void gemm<__VA_ARGS__>(tw::gemm_args);
#define ORDERS(T, V, M, N)          \
  KERNEL(policy<T, k, k, V, M, N>)  \
  KERNEL(policy<T, k, mn, V, M, N>) \
  KERNEL(policy<T, mn, k, V, M, N>) \
  KERNEL(policy<T, mn, mn, V, M, N>)
ORDERS(tw::half_t, 8, 128, 128)
ORDERS(tw::half_t, 8, 128, 64)
ORDERS(tw::half_t, 8, 64, 128)
ORDERS(tw::half_t, 8, 64, 64)
ORDERS(tw::bfloat16_t, 8, 128, 128)
ORDERS(tw::bfloat16_t, 8, 128, 64)
ORDERS(tw::bfloat16_t, 8, 64, 128)
ORDERS(tw::bfloat16_t, 8, 64, 64)
ORDERS(tw::half_t, 1, 128, 128)
ORDERS(tw::half_t, 1, 64, 64)
ORDERS(tw::bfloat16_t, 1, 128, 128)
ORDERS(tw::bfloat16_t, 1, 64, 64)
KERNEL(default_tile<float>)
KERNEL(default_tile<tw::int8_t>)
