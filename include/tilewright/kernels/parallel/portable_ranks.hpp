// SPDX-License-Identifier: MIT
// A product whose sums are scattered, for any GPU: one launch multiplies the rows of one rank, NCCL or RCCL sends sums.
#pragma once

#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/parallel/rank_args.hpp>
#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright::parallel {

namespace detail {

/// Adds what the other ranks have sent, in the order of ranks, then Finish; sums that go to others stay as they are.
template <class Finish>
struct add_received {
  template <class Args>
  static constexpr const char* check(const Args& args, const vector_alignment& promise) {
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

template <class Policy>
struct with_received_sums : Policy {
  using args_type = reduce_scatter_args;
  using epilogue = add_received<epilogue_of<Policy>>;
};

/// What crosses to the device; the same type for every target.
struct prepared_ranks {
  reduce_scatter_args args;
};

}  // namespace detail

/// A gemm_kernel for the rows of one rank: for another one, or this rank's. For collective_reduce_scatter.
template <class Policy>
struct reduce_scatter_kernel {
  using policy = detail::with_received_sums<Policy>;
  using arch = typename Policy::arch;
  using args_type = reduce_scatter_args;
  using gemm = gemm_kernel<policy>;
  using device_args = detail::prepared_ranks;
  static constexpr index_t block_size = gemm::block_size, lds_bytes = gemm::lds_bytes,
                           blocks_at_once = gemm::blocks_at_once;
  static_assert(Policy::split_k == split_k_kind::none && Policy::products == 1 && Policy::groups == group_kind::none,
                "parallel: the policy must be one of a plain product, whose k is not split");

  static constexpr const char* check(const args_type& args) {
    const char* const why = detail::check_ranks(args);
    return why ? why : gemm::check(product_of(args));
  }
  template <class Facts>
  static device_args prepare(const args_type& args, const Facts&) {
    return {product_of(args)};
  }
  static constexpr grid_size grid(const device_args& d) { return gemm::grid(d.args); }
  TILEWRIGHT_HD void operator()(const device_args& d) const { gemm{}(d.args); }

 private:
  static args_type product_of(args_type args) {
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

}  // namespace tilewright::parallel
