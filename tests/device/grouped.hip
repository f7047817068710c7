// SPDX-License-Identifier: MIT
// Grouped products, and block-scaled ones of e4m3 where the target has one kind of it each.
#include <tilewright/core/arch/current.hpp>

#include "grouped_policies.hpp"

#if TILEWRIGHT_AMDGCN_PASS && (defined(__gfx942__) || defined(__gfx950__))

#define KERNEL(policy)                                                                                               \
  using policy##_kernel_type = tilewright::grouped_gemm_kernel<grouped_policies::policy<tilewright::arch::current>>; \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void policy##_kernel(                                      \
      policy##_kernel_type::device_args args) {                                                                      \
    policy##_kernel_type{}(args);                                                                                    \
  }

// A kernel that does nothing where the tile does not fit the target.
template <tilewright::block_scaled_tile Tile, bool Fits>
struct scaled_kernel {
  using type = tilewright::gemm_kernel<grouped_policies::scaled_tile<tilewright::arch::current, Tile>>;
  static constexpr int block_size = type::block_size;
  TILEWRIGHT_HD static void run(const tilewright::block_scaled_args& args) { type{}(args); }
};
template <tilewright::block_scaled_tile Tile>
struct scaled_kernel<Tile, false> {
  static constexpr int block_size = 64;
  TILEWRIGHT_HD static void run(const tilewright::block_scaled_args&) {}
};
#define SCALED_KERNEL(name, ...)                                                                         \
  using name##_kernel_type =                                                                             \
      scaled_kernel<tilewright::block_scaled_tile{__VA_ARGS__},                                          \
                    tilewright::block_scaled_tile{__VA_ARGS__}.fits(tilewright::arch::current::value)>;  \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(name##_kernel_type::block_size) void name##_kernel( \
      tilewright::block_scaled_args args) {                                                              \
    name##_kernel_type::run(args);                                                                       \
  }
TILEWRIGHT_TEST_SCALED_TILES(SCALED_KERNEL)

using scaled_shared_kernel_type = tilewright::stream_k_gemm<grouped_policies::scaled_shared<tilewright::arch::current>>;
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void scaled_shared_kernel(tilewright::block_scaled_args args) {
  scaled_shared_kernel_type{}(args);
}

KERNEL(scaled_rows)
#if defined(__gfx942__)
KERNEL(rows)
KERNEL(along_k)
#endif

#endif
