// SPDX-License-Identifier: MIT
// Grouped products, one persistent launch for all groups: a kernel for any policy, ready for launch().
#pragma once

#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/grouped/check_grouped.hpp>
#include <tilewright/kernels/gemm/grouped/detail/group_iterator.hpp>
#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright {

/// A policy whose products are grouped, of narrow weights (dequantising_policy) too. Its kernel is grouped_gemm_kernel;
/// on Hopper's pipeline it is in grouped_hopper.hpp.
template <class Policy, group_kind Kind>
struct grouped : Policy {
  using args_type = detail::conditional_t<
      Policy::is_block_scaled, block_scaled_args,
      detail::conditional_t<__is_same(typename Policy::args_type, narrow_args), narrow_args, grouped_args>>;
  static constexpr group_kind groups = Kind;  ///< which dimension the groups divide
};

namespace detail {

/// What crosses to the device; the same type for every target.
template <class Args>
struct grouped_launch {
  Args args;
  group_tiles tiles;
  index_t blocks;
};

/// A launch of tiles of m x n elements in an order, on a GPU that runs `resident` blocks at the same time.
template <class Args>
constexpr grouped_launch<Args> plan_groups(const Args& args, bool by_rows, index_t m, index_t n,
                                           const grid_order& order, index_t resident) {
  const long_index_t most = grouped_tile_limit(args, by_rows, m, n);
  return {args, {ceil_div(args.n, n), order.group_rows}, most < resident ? index_t(most) : resident};
}

/// Whether groups of about equal length are so short that a block tile of 64 x 64 multiplies fewer rows of no group.
constexpr bool has_short_groups(const grouped_args& args) { return ceil_div(args.m, max(args.groups, 1)) <= 64; }

}  // namespace detail

/// The kernel of a policy for grouped products, for launch(): each block computes tiles of any groups, one after the
/// other.
template <class Policy>
struct grouped_gemm_kernel {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using of_one_group = gemm_kernel<Policy>;
  using device_args = detail::grouped_launch<args_type>;
  static constexpr index_t block_size = of_one_group::block_size, lds_bytes = of_one_group::lds_bytes,
                           blocks_at_once = of_one_group::blocks_at_once;
  static constexpr bool by_rows = Policy::groups == group_kind::rows;  ///< groups are rows of A and C, else slices of k
  static_assert(Policy::split_k == split_k_kind::none, "grouped_gemm_kernel: k is not split");
  static_assert(!of_one_group::is_narrow || (by_rows && __is_same(args_type, narrow_args)),
                "grouped_gemm_kernel: groups of narrow weights divide rows, and A is plain");

  static constexpr const char* check(const args_type& args) {
    if constexpr (Policy::gathers_a) {
      if (const char* why = check_gathered(args, sizeof(typename Policy::element_type), 0x7fffffff)) return why;
    }
    const char* const why = of_one_group::check(args);
    return why ? why : check_grouped<Policy>(args, {Policy::vector, sizeof(typename Policy::result_type)});
  }
  static device_args prepare(const args_type& args, const launch_facts& facts) {
    constexpr block_tile tile = Policy::tile;
    return detail::plan_groups(args, by_rows, tile.m, tile.n / Policy::products, Policy::order,
                               facts.resident_clusters);
  }
  static constexpr grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()(const device_args& d) const {
    constexpr grid_order order = Policy::order;
    // One group at a time: what is found is uniform.
    constexpr block_tile tile = Policy::tile;
    detail::group_iterator<Policy::groups, 1, tile.m> iterator(d.args, d.tiles);
    detail::group_tile found;
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    TILEWRIGHT_UNROLL(1)
    for (index_t i = order.index_on_curve(exec::block_id().x, d.blocks); iterator.find(i, found); i += d.blocks) {
      of_one_group{}.run(of_group(d.args, found), {{found.at.row, found.at.col}}, 0, 0, lds);
      exec::block_sync();  // the result has been read from LDS
    }
  }

 private:
  /// The arguments of the dense product of a tile's group.
  TILEWRIGHT_HD static args_type of_group(args_type args, const detail::group_tile& tile) {
    using T = typename Policy::element_type;
    using R = typename Policy::result_type;
    const long_index_t begin = tile.rows.begin, group = tile.at.batch;
    if constexpr (Policy::gathers_a)
      args.source += begin;
    else
      args.a = static_cast<const T*>(args.a) + begin * args.lda;
    args.b = static_cast<const char*>(args.b) +
             (by_rows ? group * args.batch_stride_b : begin * args.ldb) * detail::b_bits<Policy>() / 8;
    args.c = static_cast<R*>(args.c) + (by_rows ? begin * args.ldc : group * args.batch_stride_c);
    (by_rows ? args.m : args.k) = tile.rows.count();
    if (by_rows && args.row_scale && !Policy::gathers_a) args.row_scale += begin;
    if (args.residual)
      args.residual = static_cast<const R*>(args.residual) + (by_rows ? begin * args.ld_residual : 0) +
                      group * args.batch_stride_residual;
    if constexpr (requires { args.group_stride_bias; }) {
      if (args.column_scale) args.column_scale += group * args.group_stride_scale;
      if (args.bias) args.bias = static_cast<const R*>(args.bias) + group * args.group_stride_bias;
    }
    if constexpr (of_one_group::is_narrow) {
      using format = typename Policy::b_format;
      const long_index_t groups = group * args.batch_stride_b_scales;
      args.b_scales = static_cast<const typename format::scale_type*>(args.b_scales) + groups;
      if constexpr (format::has_zero_points)
        args.b_zeros = static_cast<const typename format::zero_type*>(args.b_zeros) + groups;
    }
    if constexpr (Policy::is_block_scaled) {
      args.a_scales += begin * args.row_stride_a_scales;
      args.b_scales += group * args.batch_stride_b_scales;
    }
    return args;
  }
};

}  // namespace tilewright
