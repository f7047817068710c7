// SPDX-License-Identifier: MIT
// A product of any shape on Hopper: all kernels that compute it under one type, chosen at run time.
#pragma once

#include <tilewright/kernels/gemm/choice/gemm_kernels.hpp>
#include <tilewright/kernels/gemm/hopper/aligned_operands.hpp>
#include <tilewright/launch/launch.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace tilewright {

/// Bytes of gemm_args::workspace for the products of gemm_plan with these arguments; its first
/// hopper_gemm_workspace::counter_bytes must be 0 before the first launch.
template <class Product>
long_index_t gemm_workspace_bytes(const gemm_args& args) {
  return hopper_gemm_workspace::bytes + detail::aligned_operands<Product>(args).bytes();
}

/// A GEMM that can be queued again and again, one launch after another. Without args.workspace k is not split, and
/// operands whose rows do not start at multiples of 16 bytes are not copied to rows that do.
///
///   using product = gemm_operation<half_t, operand_major::k, operand_major::k>;
///   gemm_args args{.a = a, .b = b, .c = c, .m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n};
///   const long_index_t bytes = gemm_workspace_bytes<product>(args);
///   cudaMalloc(&args.workspace, bytes);
///   cudaMemset(args.workspace, 0, bytes);
///   const gemm_plan<product> plan(args, choose_gemm<product>(args, SMs));
///   plan(stream);  // any number of times
template <class Product>
class gemm_plan {
  using kernels = gemm_kernels<Product>;
  using step = std::function<void(detail::gpu_stream)>;

 public:
  /// Throws launch_error, with the kernel's error message, if it cannot compute this.
  gemm_plan(const gemm_args& args, const gemm_choice& choice) : choice_(choice) {
    for_kernel<0>(kernels::find(choice), [&]<class Kernel>(const Kernel*) {
      if constexpr (wants_alignment<Kernel>) {
        const detail::aligned_operands<Product> aligned(args);
        if (args.workspace && aligned.any()) {
          if (const char* why = check_copies<Kernel>(aligned, choice_.split_k)) throw launch_error(why);
          add_copies_before(aligned);
          add<Kernel>(aligned.args);
          if (aligned.c.is_copy) add_copy<typename Product::result_type>(aligned.back());
          return;
        }
      }
      if (const char* why = Kernel::check(split(args, choice_.split_k))) throw launch_error(why);
      add<Kernel>(args);
    });
  }
  /// Queues the kernels on a stream; nothing is chosen or allocated.
  void operator()(detail::gpu_stream stream = nullptr) const {
    for (const step& s : steps_) s(stream);
  }

  /// Why a choice cannot run, as an error message; nullptr: it can.
  static const char* check(const gemm_args& args, const gemm_choice& choice) {
    const char* why = "there is no such kernel";
    for_kernel<0>(kernels::find(choice), [&]<class Kernel>(const Kernel*) {
      why = Kernel::check(split(args, choice.split_k));
      if constexpr (wants_alignment<Kernel>) {
        const detail::aligned_operands<Product> aligned(args);
        if (args.workspace && aligned.any()) why = check_copies<Kernel>(aligned, choice.split_k);
      }
    });
    return why;
  }

 private:
  /// Whether rows of operands must start at multiples of 16 bytes, if need be those of copies.
  template <class Kernel>
  static constexpr bool wants_alignment = [] {
    if constexpr (requires { typename Kernel::block; }) return !Kernel::block::tile.unaligned;
    return false;
  }();

  template <index_t Nth, class F>
  static void for_kernel(index_t wanted, F f) {
    if constexpr (Nth < kernels::size) {
      if (Nth == wanted) return f(static_cast<const typename kernels::template kernel<Nth>*>(nullptr));
      for_kernel<Nth + 1>(wanted, f);
    }
  }

  /// The arguments that split k into parts, as in gemm_choice.
  static gemm_args split(gemm_args args, index_t split_k) {
    if (split_k == 1) args.workspace = nullptr;
    args.split_k = split_k == 0 ? 1 : split_k;
    return args;
  }

  template <class Kernel>
  static const char* check_copies(const detail::aligned_operands<Product>& aligned, index_t split_k) {
    if (const char* why = aligned.check_copies()) return why;
    const gemm_args g = split(aligned.args, split_k);
    return Kernel::check(aligned.c.is_copy ? detail::with_room_after_rows(g, Kernel::policy::b_major) : g);
  }

  /// Of arguments that were checked.
  template <class Kernel>
  void add(const gemm_args& args) {
    steps_.push_back(prepared_launch<Kernel>(split(args, choice_.split_k), detail::gpu_functions::of<Kernel>(),
                                             detail::unchecked{}));
  }
  template <class Element>
  void add_copy(const repitch_args& copy) {
    steps_.push_back(prepared_launch<repitch<Element>>(copy));
  }
  void add_copies_before(const detail::aligned_operands<Product>& aligned) {
    if (aligned.a.is_copy) add_copy<typename Product::element_type>(aligned.a.copy);
    if (aligned.b.is_copy) add_copy<typename Product::element_type>(aligned.b.copy);
    if (aligned.c.is_copy && aligned.args.beta != 0) add_copy<typename Product::result_type>(aligned.c.copy);
    for (const auto* more : {&aligned.bias, &aligned.column_scale, &aligned.residual})
      if (more->is_copy) add_copy<typename Product::result_type>(more->copy);
  }

  gemm_choice choice_;
  std::vector<step> steps_;
};

/// The choices that can compute a product, the one with the shortest predicted time first.
template <class Product>
std::vector<gemm_choice> rank_choices(const gemm_args& args, index_t SMs) {
  using kernels = gemm_kernels<Product>;
  std::vector<std::pair<double, gemm_choice>> all;
  const auto add = [&](double clocks, const gemm_choice& c) {
    if (!gemm_plan<Product>::check(args, c)) all.push_back({clocks, c});
  };
  const detail::aligned_operands<Product> aligned(args);
  double copies = 0;  // clocks of what makes rows start at multiples of 16 bytes
  for (const detail::aligned_operand* o : {&aligned.a, &aligned.b, &aligned.c, &aligned.residual})
    if (o->is_copy) copies += 2580 + 2.0 * double(o->bytes) / 2240;
  for_each_hopper_kernel(args, Product::operands, SMs, 16, [&](const hopper_gemm_choice& s) {
    if (s.split_k == 1 || args.workspace)
      add(s.clocks + (s.tile.unaligned ? 0 : copies), {.tile = s.tile, .split_k = s.split_k});
  });
  for (index_t i = kernels::num_tiles; i < kernels::size; ++i)
    for_each_small_m_kernel(args, i == kernels::num_tiles, SMs, [&](index_t split_k, double clocks) {
      gemm_choice c = kernels::choice(i);
      c.split_k = split_k;
      add(clocks, c);
    });
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<gemm_choice> ranked;
  for (const auto& [clocks, choice] : all) ranked.push_back(choice);
  return ranked;
}

/// The choice that the models prefer; if no kernel can compute the product, gemm_plan says why.
template <class Product>
gemm_choice choose_gemm(const gemm_args& args, index_t SMs) {
  const std::vector<gemm_choice> ranked = rank_choices<Product>(args, SMs);
  return ranked.empty() ? gemm_choice{} : ranked[0];
}

}  // namespace tilewright
