// SPDX-License-Identifier: MIT
// The kernels that compute a product on Hopper GPUs, by number.
#pragma once

#include <tilewright/kernels/gemm/choice/specialized_choice.hpp>
#include <tilewright/kernels/gemm/hopper/few_rows_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/warp_specialized_pipeline.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>

#include <string>

namespace tilewright {

/// Such as 128x256_b2.
inline std::string name_of(const specialized_tile& t) {
  std::string s = std::to_string(t.m) + "x" + std::to_string(t.n);
  if (t.share_a > 1) s += "_a" + std::to_string(t.share_a);
  if (t.share_b > 1) s += "_b" + std::to_string(t.share_b);
  if (t.blocks > 1) s += "_x" + std::to_string(t.blocks);
  if (t.swap_ab) s += "_swap";
  if (t.ping_pong) s += "_pp";
  if (t.any_start) s += "_any";
  return s;
}

/// How k is split, as in specialized_choice.
inline std::string name_of_parts(index_t parts) {
  return parts == 0 ? "" : parts == 1 ? "k whole" : "k in " + std::to_string(parts) + " parts";
}

/// A kernel of a product, and how it is used.
struct gemm_choice {
  index_t kernel = 0;  // in gemm_kernels
  index_t parts = 0;   // of k, as in specialized_choice
  friend bool operator==(const gemm_choice&, const gemm_choice&) = default;
};

/// The kernels of a product: those of specialized_tiles, and those of few rows, with vectors and without, which
/// multiply elements of 16 bits.
template <class Product>
struct gemm_kernels {
  using T = typename Product::element_type;
  static constexpr index_t few_rows = specialized_tiles.size(), size = few_rows + (sizeof(T) == 2 ? 2 : 0);

  template <index_t Nth>
  static constexpr auto kernel_of() {
    using R = typename Product::result_type;
    using epilogue = typename Product::epilogue_type;
    if constexpr (Nth < few_rows) {
      return gemm_kernel<
          gemm_specialized<T, Product::a_major, Product::b_major, specialized_tiles[Nth], R, epilogue>>{};
    } else {
      constexpr index_t vector = Nth == few_rows ? 8 : 1, a_vector = Product::a_major == operand_major::k ? vector : 1;
      return few_rows_gemm<few_rows_policy<T, Product::a_major, Product::b_major, a_vector, vector, R, epilogue>>{};
    }
  }
  template <index_t Nth>
  using kernel = decltype(kernel_of<Nth>());

  static std::string name(const gemm_choice& c) {
    return name(c.kernel) + (c.parts == 0 ? "" : ", " + name_of_parts(c.parts));
  }
  static std::string name(index_t i) {
    return i == few_rows ? "few_rows" : i > few_rows ? "few_rows_v1" : name_of(specialized_tiles[i]);
  }
};

}  // namespace tilewright
