// SPDX-License-Identifier: MIT
// A product of any shape on Hopper: all kernels that compute it under one type, chosen at run time.
#pragma once

#include <tilewright/gemm/aligned_operands.hpp>
#include <tilewright/gemm/gemm_kernels.hpp>
#include <tilewright/launch/launch.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace tilewright {

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
      add_product(prepared_launch<Kernel>(given));
    });
  }
  void operator()(detail::gpu_stream stream = nullptr) const {
    for (const step& s : steps_) s(stream);
  }
  const gemm_choice& choice() const { return choice_; }
  /// Whether some tiles are split along k.
  bool splits_k() const { return splits_k_; }

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

  template <index_t Nth, class F>
  static void for_kernel(index_t wanted, F f) {
    if constexpr (Nth < kernels::size) {
      if (Nth == wanted) return f(static_cast<const typename kernels::template kernel<Nth>*>(nullptr));
      for_kernel<Nth + 1>(wanted, f);
    }
  }

  template <class Kernel>
  void add_product(const prepared_launch<Kernel>& launch) {
    if constexpr (requires { launch.prepared().schedule; }) splits_k_ = launch.prepared().schedule.sharers > 0;
    steps_.push_back(launch);
  }

  template <class Kernel>
  void plan_with_copies(detail::aligned_operands<Product> aligned, const gemm_choice& choice) {
    using copy_operand = prepared_launch<repitch<typename Product::element_type>>;
    using copy_result = prepared_launch<repitch<typename Product::result_type>>;
    if (aligned.a.is_copy) steps_.push_back(copy_operand(aligned.a.copy));
    if (aligned.b.is_copy) steps_.push_back(copy_operand(aligned.b.copy));
    if (aligned.c.is_copy && aligned.args.beta != 0) steps_.push_back(copy_result(aligned.c.copy));
    for (const auto* more : {&aligned.bias, &aligned.column_scale, &aligned.residual})
      if (more->is_copy) steps_.push_back(copy_result(more->copy));
    const repitch_args back = aligned.back();
    if (!choice.splits_k) aligned.args.workspace = nullptr;
    using kernel = detail::with_room_after_rows<Kernel>;
    if (aligned.c.is_copy) {
      add_product(prepared_launch<kernel>(aligned.args, detail::gpu_functions::of<Kernel>()));
      steps_.push_back(copy_result(back));
    } else {
      add_product(prepared_launch<Kernel>(aligned.args));
    }
  }

  gemm_choice choice_;
  bool splits_k_ = false;
  std::vector<step> steps_;
};

/// The choices that can compute a product, each schedule once.
template <class Product>
std::vector<gemm_choice> possible_choices(const gemm_args& args) {
  std::vector<gemm_choice> list;
  for (index_t i = 0; i < gemm_kernels<Product>::size; ++i) {
    if (gemm_plan<Product>::check(args, i)) continue;
    list.push_back({i, true});
    if (gemm_plan<Product>(args, {i, true}).splits_k()) list.push_back({i, false});
  }
  return list;
}

namespace detail {

/// Clocks of few_rows_gemm beyond a launch, fitted to the same products as the model of specialized_choice.hpp: those
/// of the bytes of B, or of tiles one after another.
constexpr double predict_few_rows_clocks(const gemm_args& g, bool moves_vectors, index_t multiprocessors) {
  struct kind {
    double start, rate;
  };
  const kind x = moves_vectors ? kind{7384, 2550} : g.m <= 16 ? kind{11500, 1240} : kind{16000, 560};
  const double tiles = double(ceil_div(g.n, 64)) * g.batch / ((g.m > 16 ? 1 : 2) * multiprocessors);
  return x.start + max(2.0 * g.n * g.k * g.batch / x.rate, 2820 * tiles);
}

/// Clocks of the copies that make rows start at multiples of 16 bytes.
template <class Product>
double predict_copy_clocks(const gemm_args& args) {
  const aligned_operands<Product> aligned(args);
  double clocks = 0;
  for (const aligned_operand* o : {&aligned.a, &aligned.b, &aligned.c, &aligned.residual})
    if (o->is_copy) clocks += 4400 + 2.0 * double(o->bytes) / 780;
  return clocks;
}

}  // namespace detail

/// The choice that the models of specialized_choice.hpp and of this file prefer.
template <class Product>
gemm_choice choose_gemm(const gemm_args& args, index_t multiprocessors) {
  using kernels = gemm_kernels<Product>;
  const auto can = [&](index_t kernel) { return !gemm_plan<Product>::check(args, kernel); };
  const specialized_choice s = choose_specialized(args, Product::operands, multiprocessors);
  if constexpr (detail::has_16_bits<Product>) {
    const index_t few_rows = kernels::few_rows + (args.m > 16 ? 2 : can(kernels::few_rows) ? 0 : 1);
    const double copies = detail::predict_copy_clocks<Product>(args);
    const double few_rows_clocks =
        detail::predict_few_rows_clocks(args, few_rows == kernels::few_rows, multiprocessors);
    if (can(few_rows) && (!can(s.tile) || few_rows_clocks < s.clocks + copies)) return {few_rows};
    if (!can(s.tile)) return {kernels::portable};
  }
  return {s.tile, s.splits_k};
}

}  // namespace tilewright
