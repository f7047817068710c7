// SPDX-License-Identifier: MIT
// The kernels that compute a product on Hopper GPUs, by number.
#pragma once

#include <tilewright/gemm/few_rows_gemm.hpp>
#include <tilewright/gemm/named_policies.hpp>
#include <tilewright/gemm/specialized_choice.hpp>
#include <tilewright/gemm/warp_specialized_pipeline.hpp>

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

/// A kernel of a product, and how it is used.
struct gemm_choice {
  index_t kernel = 0;  // in gemm_kernels
  index_t parts = 0;   // of k, as in specialized_choice
  friend bool operator==(const gemm_choice&, const gemm_choice&) = default;
};

namespace detail {

template <class Product>
struct portable_gemm_policy
    : gemm_policy<arch::sm90, typename Product::element_type, Product::a_major, Product::b_major, 1> {
  using result_type = typename Product::result_type;
  using epilogue = typename Product::epilogue_type;
};

/// The portable kernels and those of few rows multiply elements of 16 bits.
template <class Product>
inline constexpr bool has_16_bits = sizeof(typename Product::element_type) == 2;

template <class Product, index_t Vector, index_t Rows>
using few_rows_of = few_rows_policy<typename Product::element_type, Product::a_major, Product::b_major,
                                    Product::a_major == operand_major::k ? Vector : 1, Vector,
                                    typename Product::result_type, typename Product::epilogue_type, Rows>;

}  // namespace detail

/// The kernels of a product: those of specialized_tiles, those of few rows, and a portable one that takes what the
/// others refuse.
template <class Product>
struct gemm_kernels {
  static constexpr index_t num_specialized = specialized_tiles.size(), few_rows = num_specialized,
                           portable = few_rows + 3, size = num_specialized + (detail::has_16_bits<Product> ? 4 : 0);

  template <index_t Nth>
  static constexpr auto kernel_of() {
    using T = typename Product::element_type;
    constexpr index_t wide = 16 / index_t(sizeof(T));
    if constexpr (Nth < num_specialized) {
      return gemm_kernel<gemm_specialized<T, Product::a_major, Product::b_major, specialized_tiles[Nth],
                                          typename Product::result_type, typename Product::epilogue_type>>{};
    } else if constexpr (Nth < portable) {
      return few_rows_gemm<detail::few_rows_of<Product, Nth == few_rows ? wide : 1, Nth == few_rows + 2 ? 64 : 16>>{};
    } else {
      return gemm_kernel<detail::portable_gemm_policy<Product>>{};
    }
  }
  template <index_t Nth>
  using kernel = decltype(kernel_of<Nth>());

  static std::string name(const gemm_choice& c) {
    return name(c.kernel) +
           (c.parts == 0 ? "" : c.parts == 1 ? ", k whole" : ", k in " + std::to_string(c.parts) + " parts");
  }
  static std::string name(index_t i) {
    if (i >= few_rows) {
      constexpr const char* names[] = {"few_rows", "few_rows_v1", "few_rows_64_v1", "portable"};
      return names[i - few_rows];
    }
    return name_of(specialized_tiles[i]);
  }
};

}  // namespace tilewright
