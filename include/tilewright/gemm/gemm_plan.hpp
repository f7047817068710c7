// SPDX-License-Identifier: MIT
// A product of any shape on Hopper: all kernels that compute it under one type, chosen at run time.
#pragma once

#include <tilewright/gemm/named_policies.hpp>
#include <tilewright/gemm/specialized_choice.hpp>
#include <tilewright/gemm/warp_specialized_pipeline.hpp>
#include <tilewright/launch/launch.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {

/// Types and orders of a product's operands; `Epilogue` as in a policy.
template <class T, operand_major AMajor, operand_major BMajor, class Result = T, class Epilogue = epilogue::alpha_beta>
struct gemm_product {
  using element_type = T;
  using result_type = Result;
  using epilogue_type = Epilogue;
  static constexpr operand_major a_major = AMajor, b_major = BMajor;
  static constexpr product_operand_types operands{sizeof(T), AMajor == operand_major::k, BMajor == operand_major::k};
};

/// A kernel of a product, and how it is used.
struct gemm_choice {
  index_t kernel = 0;    // in gemm_kernels
  bool splits_k = true;  // tiles of a last round, where that is possible
  friend bool operator==(const gemm_choice&, const gemm_choice&) = default;
};

namespace detail {

template <class Product, index_t Vector>
struct portable_gemm_policy
    : gemm_policy<arch::sm90, typename Product::element_type, Product::a_major, Product::b_major, Vector> {
  using result_type = typename Product::result_type;
  using epilogue = typename Product::epilogue_type;
};

/// mma.sync on this GPU takes elements of 16 bits.
template <class Product>
inline constexpr bool has_portable_kernels = sizeof(typename Product::element_type) == 2;

}  // namespace detail

/// The kernels of a product: those of specialized_tiles, then the portable one with vectors and without.
template <class Product>
struct gemm_kernels {
  static constexpr index_t num_specialized = specialized_tiles.size(), portable = num_specialized,
                           size = num_specialized + (detail::has_portable_kernels<Product> ? 2 : 0);

  /// Calls f(number<i>, type) with the policy of kernel `i`.
  template <index_t I>
  static constexpr auto policy() {
    using T = typename Product::element_type;
    if constexpr (I < num_specialized) {
      return gemm_specialized<T, Product::a_major, Product::b_major, specialized_tiles[I],
                              typename Product::result_type, typename Product::epilogue_type>{};
    } else if constexpr (I == portable) {
      return detail::portable_gemm_policy<Product, 16 / index_t(sizeof(T))>{};
    } else {
      return detail::portable_gemm_policy<Product, 1>{};
    }
  }
  template <index_t I>
  using kernel = gemm_kernel<decltype(policy<I>())>;

  static std::string name(index_t i) {
    if (i >= portable) return i == portable ? "portable" : "portable, vector 1";
    const specialized_tile& t = specialized_tiles[i];
    std::string s = std::to_string(t.m) + "x" + std::to_string(t.n);
    if (t.share_a > 1) s += "_a" + std::to_string(t.share_a);
    if (t.share_b > 1) s += "_b" + std::to_string(t.share_b);
    return s;
  }
};

/// A product that can be queued again and again. args.workspace: specialized_workspace, or null.
template <class Product>
class gemm_plan {
  using kernels = gemm_kernels<Product>;

 public:
  /// Throws launch_error, with the kernel's sentence, if it cannot compute this.
  gemm_plan(const gemm_args& args, const gemm_choice& choice) : choice_(choice) {
    for_kernel(choice.kernel, [&]<class Kernel>(const Kernel*) {
      gemm_args given = args;
      if (!choice.splits_k) given.workspace = nullptr;
      launch_ = prepared_launch<Kernel>(given);
    });
  }
  void operator()(detail::gpu_stream stream = nullptr) const { launch_(stream); }
  const gemm_choice& choice() const { return choice_; }

  /// A sentence about what a kernel cannot do; nullptr if it can.
  static const char* check(const gemm_args& args, index_t kernel) {
    const char* why = "there is no such kernel";
    for_kernel(kernel, [&]<class Kernel>(const Kernel*) { why = Kernel::check(args); });
    return why;
  }

 private:
  template <class F>
  static void for_kernel(index_t wanted, F f) {
    [&]<index_t... Is>(std::integer_sequence<index_t, Is...>) {
      ((Is == wanted ? f(static_cast<const typename kernels::template kernel<Is>*>(nullptr)) : void()), ...);
    }(std::make_integer_sequence<index_t, kernels::size>{});
  }

  gemm_choice choice_;
  std::function<void(detail::gpu_stream)> launch_;
};

/// The choices that can compute a product.
template <class Product>
std::vector<gemm_choice> possible_choices(const gemm_args& args) {
  std::vector<gemm_choice> list;
  for (index_t i = 0; i < gemm_kernels<Product>::size; ++i) {
    if (gemm_plan<Product>::check(args, i)) continue;
    list.push_back({i, true});
    if (i < gemm_kernels<Product>::num_specialized && args.workspace) list.push_back({i, false});
  }
  return list;
}

/// The choice that the model of specialized_choice.hpp prefers.
template <class Product>
gemm_choice choose_gemm(const gemm_args& args, index_t multiprocessors) {
  using kernels = gemm_kernels<Product>;
  const index_t tile = choose_specialized_tile(args, Product::operands, multiprocessors);
  if (!gemm_plan<Product>::check(args, tile) || !detail::has_portable_kernels<Product>) return {tile, true};
  return {gemm_plan<Product>::check(args, kernels::portable) ? kernels::portable + 1 : kernels::portable, true};
}

}  // namespace tilewright
