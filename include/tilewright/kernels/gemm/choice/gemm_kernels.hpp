// SPDX-License-Identifier: MIT
// The kernels of a GEMM on Hopper GPUs that are compiled ahead of time.
#pragma once

#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>

namespace tilewright {

/// Those of hopper_gemm_tiles, and those for small M, with vectors and without, which multiply elements of 16 bits.
template <class Product>
struct gemm_kernels {
  using T = typename Product::element_type;  ///< of A and B
  /// The first of small M; how many kernels there are.
  static constexpr index_t num_tiles = hopper_gemm_tiles.size(), size = num_tiles + (sizeof(T) == 2 ? 2 : 0);

  /// The kernel of index Nth, as an object.
  template <index_t Nth>
  static constexpr auto kernel_of() {
    using R = typename Product::result_type;
    using epilogue = typename Product::epilogue_type;
    if constexpr (Nth < num_tiles) {
      return gemm_kernel<gemm_hopper<T, Product::a_major, Product::b_major, hopper_gemm_tiles[Nth], R, epilogue>>{};
    } else {
      constexpr index_t vector = Nth == num_tiles ? 8 : 1, a_vector = Product::a_major == operand_major::k ? vector : 1;
      return small_m_gemm<small_m_policy<T, Product::a_major, Product::b_major, a_vector, vector, R, epilogue>>{};
    }
  }
  template <index_t Nth>
  using kernel = decltype(kernel_of<Nth>());

  /// The choice of kernel i with stream-K.
  static constexpr gemm_choice choice(index_t i) {
    if (i < num_tiles) return {.tile = hopper_gemm_tiles[i]};
    return {.kernel = i == num_tiles ? gemm_kernel_kind::small_m : gemm_kernel_kind::small_m_v1};
  }
  /// The number of the kernel of a choice; `size` if it is not here.
  static constexpr index_t find(const gemm_choice& c) {
    index_t i = 0;
    while (i < size && !(choice(i).kernel == c.kernel && choice(i).tile == c.tile)) ++i;
    return i;
  }
};

}  // namespace tilewright
