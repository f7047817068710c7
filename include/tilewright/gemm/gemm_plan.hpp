// SPDX-License-Identifier: MIT
// A product of any shape on Hopper: all kernels that compute it under one type, chosen at run time.
#pragma once

#include <tilewright/gemm/aligned_operands.hpp>
#include <tilewright/gemm/few_rows_gemm.hpp>
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
  bool splits_k = true;  // where the kernel can
  friend bool operator==(const gemm_choice&, const gemm_choice&) = default;
};

namespace detail {

template <class Product, index_t Vector>
struct portable_gemm_policy
    : gemm_policy<arch::sm90, typename Product::element_type, Product::a_major, Product::b_major, Vector> {
  using result_type = typename Product::result_type;
  using epilogue = typename Product::epilogue_type;
};

/// The portable kernels and those of few rows multiply elements of 16 bits.
template <class Product>
inline constexpr bool has_16_bits = sizeof(typename Product::element_type) == 2;

template <class Product, index_t Vector>
using few_rows_of = few_rows_policy<typename Product::element_type, Product::a_major, Product::b_major,
                                    Product::a_major == operand_major::k ? Vector : 1, Vector,
                                    typename Product::result_type, typename Product::epilogue_type>;

}  // namespace detail

/// The kernels of a product: those of specialized_tiles, those of few rows and the portable ones, with vectors and
/// without.
template <class Product>
struct gemm_kernels {
  static constexpr index_t num_specialized = specialized_tiles.size(), few_rows = num_specialized,
                           portable = few_rows + 2, size = num_specialized + (detail::has_16_bits<Product> ? 4 : 0);

  template <index_t I>
  static constexpr auto kernel_of() {
    using T = typename Product::element_type;
    constexpr index_t wide = 16 / index_t(sizeof(T));
    if constexpr (I < num_specialized) {
      return gemm_kernel<gemm_specialized<T, Product::a_major, Product::b_major, specialized_tiles[I],
                                          typename Product::result_type, typename Product::epilogue_type>>{};
    } else if constexpr (I < portable) {
      return few_rows_gemm<detail::few_rows_of<Product, I == few_rows ? wide : 1>>{};
    } else {
      return gemm_kernel<detail::portable_gemm_policy<Product, I == portable ? wide : 1>>{};
    }
  }
  template <index_t I>
  using kernel = decltype(kernel_of<I>());

  static std::string name(const gemm_choice& c) { return name(c.kernel) + (c.splits_k ? "" : ", k whole"); }
  static std::string name(index_t i) {
    if (i >= few_rows) {
      constexpr const char* names[] = {"few rows", "few rows, vector 1", "portable", "portable, vector 1"};
      return names[i - few_rows];
    }
    const specialized_tile& t = specialized_tiles[i];
    std::string s = std::to_string(t.m) + "x" + std::to_string(t.n);
    if (t.share_a > 1) s += "_a" + std::to_string(t.share_a);
    if (t.share_b > 1) s += "_b" + std::to_string(t.share_b);
    return s;
  }
};

/// Bytes of gemm_args::workspace for the products of gemm_plan with these arguments; its first
/// specialized_workspace::counter_bytes must be 0 before the first launch.
template <class Product>
long_index_t gemm_workspace_bytes(const gemm_args& args) {
  return specialized_workspace::bytes + detail::aligned_operands<Product>(args).bytes();
}

/// A product that can be queued again and again, one launch after another. Without args.workspace k is not split, and
/// products whose rows do not start at multiples of 16 bytes have slower kernels only.
template <class Product>
class gemm_plan {
  using kernels = gemm_kernels<Product>;
  using step = std::function<void(detail::gpu_stream)>;

 public:
  /// Throws launch_error, with the kernel's sentence, if it cannot compute this.
  gemm_plan(const gemm_args& args, const gemm_choice& choice) : choice_(choice) {
    for_kernel<0>(choice.kernel, [&]<class Kernel>(const Kernel*) {
      gemm_args given = args;
      if (!choice.splits_k) given.workspace = nullptr;
      if constexpr (is_specialized<Kernel>) {
        const detail::aligned_operands<Product> aligned(args);
        if (args.workspace && aligned.any()) return plan_with_copies<Kernel>(aligned, choice);
      }
      steps_.push_back(prepared_launch<Kernel>(given));
    });
  }
  void operator()(detail::gpu_stream stream = nullptr) const {
    for (const step& s : steps_) s(stream);
  }
  const gemm_choice& choice() const { return choice_; }

  /// A sentence about what a kernel cannot do; nullptr if it can.
  static const char* check(const gemm_args& args, index_t kernel) {
    const char* why = "there is no such kernel";
    for_kernel<0>(kernel, [&]<class Kernel>(const Kernel*) {
      why = Kernel::check(args);
      if constexpr (is_specialized<Kernel>) {
        const detail::aligned_operands<Product> aligned(args);
        if (args.workspace && aligned.any()) why = detail::with_room_after_rows<Kernel>::check(aligned.args);
      }
    });
    return why;
  }

 private:
  template <class Kernel>
  static constexpr bool is_specialized = requires { typename Kernel::block; };

  template <index_t I, class F>
  static void for_kernel(index_t wanted, F f) {
    if constexpr (I < kernels::size) {
      if (I == wanted) return f(static_cast<const typename kernels::template kernel<I>*>(nullptr));
      for_kernel<I + 1>(wanted, f);
    }
  }

  template <class Kernel>
  void plan_with_copies(detail::aligned_operands<Product> aligned, const gemm_choice& choice) {
    using copy_operand = prepared_launch<repitch<typename Product::element_type>>;
    using copy_result = prepared_launch<repitch<typename Product::result_type>>;
    if (aligned.a.is_copy) steps_.push_back(copy_operand(aligned.a.copy));
    if (aligned.b.is_copy) steps_.push_back(copy_operand(aligned.b.copy));
    if (aligned.c.is_copy && aligned.args.beta != 0) steps_.push_back(copy_result(aligned.c.copy));
    const repitch_args back = aligned.back();
    if (!choice.splits_k) aligned.args.workspace = nullptr;
    using kernel = detail::with_room_after_rows<Kernel>;
    if (aligned.c.is_copy) {
      steps_.push_back(prepared_launch<kernel>(aligned.args, detail::gpu_functions::of<Kernel>()));
      steps_.push_back(copy_result(back));
    } else {
      steps_.push_back(prepared_launch<Kernel>(aligned.args));
    }
  }

  gemm_choice choice_;
  std::vector<step> steps_;
};

/// The choices that can compute a product.
template <class Product>
std::vector<gemm_choice> possible_choices(const gemm_args& args) {
  std::vector<gemm_choice> list;
  for (index_t i = 0; i < gemm_kernels<Product>::size; ++i) {
    if (gemm_plan<Product>::check(args, i)) continue;
    list.push_back({i, true});
    if (i < gemm_kernels<Product>::portable && args.workspace) list.push_back({i, false});
  }
  return list;
}

/// The choice that the model of specialized_choice.hpp prefers.
template <class Product>
gemm_choice choose_gemm(const gemm_args& args, index_t multiprocessors) {
  using kernels = gemm_kernels<Product>;
  const auto can = [&](index_t kernel) { return !gemm_plan<Product>::check(args, kernel); };
  if constexpr (detail::has_16_bits<Product>) {
    if (args.m <= 16) {
      if (can(kernels::few_rows)) return {kernels::few_rows};
      if (can(kernels::few_rows + 1)) return {kernels::few_rows + 1};
    }
  }
  const index_t tile = choose_specialized_tile(args, Product::operands, multiprocessors);
  if (can(tile) || !detail::has_16_bits<Product>) return {tile};
  return {can(kernels::portable) ? kernels::portable : kernels::portable + 1};
}

}  // namespace tilewright
