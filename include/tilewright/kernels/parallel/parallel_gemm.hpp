// SPDX-License-Identifier: MIT
// Products of several GPUs: all-gather then product, product then reduce-scatter or all-reduce.
#pragma once

#include <tilewright/kernels/parallel/all_gather_kernel.hpp>
#include <tilewright/kernels/parallel/parallel_choice.hpp>
#include <tilewright/kernels/parallel/rank_products.hpp>
#include <tilewright/kernels/parallel/reduce_scatter_kernel.hpp>

#if TILEWRIGHT_CPU_PASS
#include <tilewright/kernels/parallel/emulated_rank.hpp>
#else
#include <tilewright/kernels/parallel/communicator.hpp>
#endif

#include <functional>
#include <memory>
#include <optional>

namespace tilewright::parallel {

#if TILEWRIGHT_CPU_PASS
using communicator = emulated_rank;
#endif

namespace detail {

/// A product of ranks, whatever computes it.
class parallel_product {
 public:
  using stream_type = communicator::stream_type;

  /// Queues the product. Every rank must call it, as often and in the same order. communicator::finish reports late
  /// ranks.
  void operator()(stream_type stream = {}) const { call_(stream); }
  const parallel_choice& choice() const { return choice_; }

 protected:
  explicit parallel_product(const parallel_choice& choice) : choice_(choice) {}

  /// Makes the product of the choice's tile and transport.
  template <class Product, template <class> class Kernel, template <class, class> class Fused,
            template <class, class> class Collective, index_t Nth = 0, class... Args>
  void use(communicator& ranks, const Args&... args) {
    if constexpr (Nth < parallel_tiles.size()) {
      if (choice_.tile != Nth) return use<Product, Kernel, Fused, Collective, Nth + 1>(ranks, args...);
      using kernel =
          Kernel<gemm_hopper<typename Product::element_type, Product::a_major, Product::b_major, parallel_tiles[Nth],
                             typename Product::result_type, typename Product::epilogue_type>>;
      const auto make = [&]<class Call>(Call*) {
        call_ = [call = std::make_shared<Call>(ranks, args...)](stream_type stream) { (*call)(stream); };
      };
      if (choice_.transport == parallel_transport::fused) {
        make(static_cast<Fused<kernel, communicator>*>(nullptr));
      } else {
        make(static_cast<Collective<kernel, communicator>*>(nullptr));
      }
    } else {
      throw launch_error("parallel: there is no such tile");
    }
  }
  template <class Product>
  static parallel_choice choose(const communicator& ranks, const gemm_args& args, bool gathers) {
    return choose_parallel(args, ranks.self().ranks, ranks.has_peers(), Product::operands, gathers);
  }

 private:
  parallel_choice choice_;
  std::function<void(stream_type)> call_;
};

}  // namespace detail

/// C = epilogue(A B) of a rank, where every rank has m / ranks rows of A (args.a, stride lda) and its own B and C.
/// args.m counts the rows of all ranks; k x n and m x n are the sizes of this rank's B and C. A is contiguous along k.
/// Pointers, leading dimensions and rows are multiples of 16 bytes. Product: a gemm_operation. Constructing one is
/// collective; it keeps two buffers for all of A. Throws launch_error where the kernel cannot compute this.
template <class Product>
class all_gather_gemm : public detail::parallel_product {
 public:
  /// Without a choice, the model of parallel_choice.hpp decides.
  all_gather_gemm(communicator& ranks, const gemm_args& args, const std::optional<parallel_choice>& choice = {})
      : parallel_product(choice ? *choice : choose<Product>(ranks, args, true)) {
    use<Product, all_gather_kernel, detail::fused_all_gather, collective_all_gather>(ranks, args);
  }
};

/// C = epilogue(sum over ranks of A B), where every rank has its own part of k: A (m x k) and B (k x n) with k of this
/// rank. Each rank gets m / ranks rows of the result, from row rank m / ranks on: args.c, and what epilogues read by
/// rows. Sums are sent in C's type, and added in the order of ranks: the result is the same in every call.
template <class Product>
class gemm_reduce_scatter : public detail::parallel_product {
 public:
  /// Without a choice, the model of parallel_choice.hpp decides.
  gemm_reduce_scatter(communicator& ranks, const gemm_args& args, const std::optional<parallel_choice>& choice = {})
      : parallel_product(choice ? *choice : choose<Product>(ranks, args, false)) {
    use<Product, reduce_scatter_kernel, detail::fused_reduce_scatter, collective_reduce_scatter>(ranks, args);
  }
};

/// The same, but all ranks get all rows: `c`, from communicator::allocate, has m x n elements on every rank, with
/// ldc = n. Epilogues read the rows that this rank finishes.
template <class Product>
class gemm_all_reduce : public detail::parallel_product {
 public:
  /// args.c is not used. Without a choice, the model of parallel_choice.hpp decides.
  gemm_all_reduce(communicator& ranks, gemm_args args, const communicator::memory_type& c,
                  const std::optional<parallel_choice>& choice = {})
      : parallel_product(choice ? *choice : choose<Product>(ranks, args, false)) {
    args.c = c.of(ranks.self().rank);
    args.ldc = args.n;
    use<Product, reduce_scatter_kernel, detail::fused_reduce_scatter, collective_reduce_scatter>(ranks, args, &c);
  }
};

}  // namespace tilewright::parallel
