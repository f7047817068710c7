// SPDX-License-Identifier: MIT
// The kernels of several ranks for any GPU: NCCL or RCCL brings rows and sums, one launch multiplies those of one rank.
#pragma once

#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/parallel/rank_args.hpp>

namespace tilewright::parallel {

namespace detail {

/// Adds what the other ranks have sent, in the order of ranks, then Finish; sums that go to others stay as they are.
template <class Finish>
struct add_received {
  template <class Args>
  static constexpr const char* check(const Args& args, const epilogue_promise& promise) {
    return tilewright::epilogue::detail::check<Finish>(args, promise);
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At& at, const Args& args) const {
    if (args.steps.first + 1 < args.self.ranks) return;
    TILEWRIGHT_UNROLL(1)
    for (index_t source = 0; source < args.self.ranks; ++source) {
      if (source == args.self.rank) continue;
      const void* const sent = static_cast<const char*>(args.received) + source * args.chunk_bytes;
      auto more = at.matrix(sent, args.n, 0);
      tile_elementwise_inout([](float& x, auto y) { x += type_convert<float>(y); }, sums, more);
    }
    tilewright::epilogue::detail::call<Finish>(at, args, sums);
  }
};

/// A gemm_kernel whose arguments are made from those of Args on the host.
template <class Policy, class Args, class Product>
struct kernel_of_ranks {
  using policy = Policy;
  using arch = typename Policy::arch;
  using args_type = Args;
  using gemm = gemm_kernel<Policy>;
  struct device_args {
    typename Policy::args_type args;
  };
  static constexpr index_t block_size = gemm::block_size, lds_bytes = gemm::lds_bytes,
                           blocks_at_once = gemm::blocks_at_once;
  static_assert(Policy::split_k == split_k_kind::none && Policy::products == 1 && Policy::groups == group_kind::none,
                "parallel: the policy must be one of a plain product, whose k is not split");

  static constexpr const char* check(const Args& args) {
    const char* const why = check_ranks(args);
    return why ? why : gemm::check(Product::of(args));
  }
  template <class Facts>
  static device_args prepare(const Args& args, const Facts&) {
    return {Product::of(args)};
  }
  static constexpr grid_size grid(const device_args& d) { return gemm::grid(d.args); }
  TILEWRIGHT_HD void operator()(const device_args& d) const { gemm{}(d.args); }
};

/// The rows of one rank, or of all, where NCCL has brought them.
template <class Policy>
struct product_of_gathered_rows {
  static gemm_args of(const all_gather_args& all) {
    gemm_args args = all;
    const index_t step = all.steps.first, source = all.self.after(step);
    if (all.steps.count == 0 || step > 0) {
      args.a = all.gathered;
      args.lda = all.ld_gathered;
    }
    if (all.steps.count == 0) return args;
    args.m = all.m / all.self.ranks;
    const long_index_t row = long_index_t(source) * args.m;
    if (step > 0) args.a = static_cast<const typename Policy::element_type*>(args.a) + row * args.lda;
    args.c = static_cast<typename Policy::result_type*>(args.c) + row * args.ldc;
    return args;
  }
};

/// The rows of one rank: for another one, or this rank's.
template <class Policy>
struct product_of_scattered_rows {
  static reduce_scatter_args of(reduce_scatter_args args) {
    const index_t owner = args.self.after(args.steps.first + 1);
    args.m = args.m / args.self.ranks;
    const long_index_t row = long_index_t(owner) * args.m;
    args.a = static_cast<const typename Policy::element_type*>(args.a) +
             row * (Policy::a_major == operand_major::k ? args.lda : 1);
    if (owner != args.self.rank) {
      args.c = static_cast<char*>(args.sums) + owner * args.chunk_bytes;
      args.ldc = args.n;
    }
    return args;
  }
};

template <class Policy>
struct with_received_sums : Policy {
  using args_type = reduce_scatter_args;
  using epilogue = add_received<epilogue_of<Policy>>;
};

}  // namespace detail

/// For collective_all_gather.
template <class Policy>
struct all_gather_kernel : detail::kernel_of_ranks<Policy, all_gather_args, detail::product_of_gathered_rows<Policy>> {
  static_assert(Policy::a_major == operand_major::k, "all_gather_kernel: A must be contiguous along k");
};

/// For collective_reduce_scatter: launches of one step.
template <class Policy>
struct reduce_scatter_kernel : detail::kernel_of_ranks<detail::with_received_sums<Policy>, reduce_scatter_args,
                                                       detail::product_of_scattered_rows<Policy>> {};

}  // namespace tilewright::parallel
