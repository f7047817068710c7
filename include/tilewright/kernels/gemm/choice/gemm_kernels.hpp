// SPDX-License-Identifier: MIT
// The kernels that compute a product on Hopper GPUs, by number.
#pragma once

#include <tilewright/kernels/gemm/choice/choice_name.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>

#include <string>

namespace tilewright {

/// Such as 128x256_b2.
inline std::string name_of(const hopper_gemm_tile& t) {
  std::string s = std::to_string(t.m) + "x" + std::to_string(t.n);
  if (t.cluster_n > 1) s += "_a" + std::to_string(t.cluster_n);
  if (t.cluster_m > 1) s += "_b" + std::to_string(t.cluster_m);
  if (t.blocks > 1) s += "_x" + std::to_string(t.blocks);
  if (t.swap_ab) s += "_swap";
  if (t.ping_pong) s += "_pp";
  if (t.unaligned) s += "_any";
  return s;
}

/// A kernel of a product, and how it is used.
struct gemm_choice {
  index_t kernel = 0;  ///< in gemm_kernels
  index_t parts = 0;   ///< of k, as in hopper_gemm_choice
  friend bool operator==(const gemm_choice&, const gemm_choice&) = default;
};

/// The kernels of a product: those of hopper_gemm_tiles, and those of few rows, with vectors and without, which
/// multiply elements of 16 bits.
template <class Product>
struct gemm_kernels {
  using T = typename Product::element_type;
  /// Indices of kernels: the tiles of hopper_gemm_tiles, then small-M kernels; how many there are.
  static constexpr index_t small_m = hopper_gemm_tiles.size(), size = small_m + (sizeof(T) == 2 ? 2 : 0);

  /// The kernel of index Nth, as an object.
  template <index_t Nth>
  static constexpr auto kernel_of() {
    using R = typename Product::result_type;
    using epilogue = typename Product::epilogue_type;
    if constexpr (Nth < small_m) {
      return gemm_kernel<gemm_hopper<T, Product::a_major, Product::b_major, hopper_gemm_tiles[Nth], R, epilogue>>{};
    } else {
      constexpr index_t vector = Nth == small_m ? 8 : 1, a_vector = Product::a_major == operand_major::k ? vector : 1;
      return small_m_gemm<small_m_policy<T, Product::a_major, Product::b_major, a_vector, vector, R, epilogue>>{};
    }
  }
  template <index_t Nth>
  using kernel = decltype(kernel_of<Nth>());

  /// The choice in words: the kernel, and how k is split.
  static std::string name(const gemm_choice& c) { return choice_name{name(c.kernel), c.parts}.text(); }
  /// The kernel in words: "128x256 2x1", "small_m".
  static std::string name(index_t i) {
    return i == small_m ? "small_m" : i > small_m ? "small_m_v1" : name_of(hopper_gemm_tiles[i]);
  }
};

}  // namespace tilewright
