// SPDX-License-Identifier: MIT
// Grouped GEMM with narrow weights on every target: the weights of each group (expert) as they are stored.
#pragma once

#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/scaled/narrow_gemm.hpp>

namespace tilewright {

/// The grouped_gemm_kernel of a dequantising_policy: C (rows of g, n) = A (rows of g, k) W of g (n, k)^T. The policy is
/// grouped<dequantising_policy<...>, group_kind::rows>; A is plain; B, scales and zero points have batch strides from a
/// group's to the next one's.
template <class Policy>
  requires requires { typename Policy::b_format; }
struct grouped_gemm_kernel<Policy> {
  using arch = typename Policy::arch;
  using args_type = narrow_args;
  using of_one_group = narrow_gemm<Policy>;
  using device_args = detail::grouped_launch<args_type>;
  static constexpr block_tile tile = Policy::tile;
  static constexpr index_t block_size = of_one_group::block_size, lds_bytes = of_one_group::lds_bytes,
                           blocks_at_once = of_one_group::blocks_at_once;
  static_assert(Policy::groups == group_kind::rows && detail::is_plain<typename Policy::a_format>,
                "grouped_gemm_kernel: groups of narrow weights divide rows, and A is plain");

  static constexpr const char* check(const args_type& args) {
    const char* const why = of_one_group::check(args);
    return why ? why : detail::check_groups(args, true, tile.m, tile.n);
  }
  static device_args prepare(const args_type& args, const launch_facts& facts) {
    return detail::plan_groups(args, true, tile.m, tile.n, Policy::order, facts.resident_clusters);
  }
  static constexpr grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()(const device_args& d) const {
    constexpr grid_order order = Policy::order;
    detail::group_iterator<group_kind::rows, 1, tile.m> iterator(d.args, d.tiles);
    detail::group_tile found;
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    TILEWRIGHT_UNROLL(1)
    for (index_t i = order.index_on_curve(exec::block_id().x, d.blocks); iterator.find(i, found); i += d.blocks) {
      const multi_index<2> origin{{found.at.row * tile.m, found.at.col * tile.n}};
      of_one_group::multiply(rows_of_group(d.args, found), origin, {ceil_div(d.args.k, tile.k), 0}, 0, 0,
                             found.at.batch, lds);
      exec::block_sync();  // the result has been read from LDS
    }
  }

 private:
  /// The arguments of the dense GEMM of a group, but for its weights.
  TILEWRIGHT_HD static args_type rows_of_group(args_type args, const detail::group_tile& found) {
    using T = typename Policy::element_type;
    using R = typename Policy::result_type;
    const long_index_t begin = found.rows.begin;
    args.a = static_cast<const T*>(args.a) + begin * args.lda;
    args.c = static_cast<R*>(args.c) + begin * args.ldc;
    args.m = found.rows.count();
    if (args.row_scale) args.row_scale += begin;
    if (args.residual) args.residual = static_cast<const R*>(args.residual) + begin * args.ld_residual;
    return args;
  }
};

}  // namespace tilewright
