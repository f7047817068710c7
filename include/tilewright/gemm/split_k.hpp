// SPDX-License-Identifier: MIT
// Several blocks for one tile of C, each with a part of k: for problems with few tiles and long k.
#pragma once

#include <tilewright/gemm/write_result.hpp>

namespace tilewright {

namespace detail {

/// What the kernel of a policy with split_k_kind::workspace writes: plain sums.
template <class Policy>
struct partial_sums : Policy {
  using result_type = accumulator_t<typename Policy::element_type>;
  using epilogue = tilewright::epilogue::none;
};

TILEWRIGHT_HD constexpr long_index_t workspace_ld(const gemm_args& args) { return round_up(args.n, 4); }
}  // namespace detail

/// Bytes that gemm_args::workspace must have.
constexpr long_index_t workspace_bytes(const gemm_args& args) {
  return long_index_t(args.split_k) * args.batch * args.m * detail::workspace_ld(args) * 4;
}

namespace detail {

/// Where a part's sums lie, as C.
template <class Sum, class Args>
TILEWRIGHT_HD Args with_workspace_as_c(Args args, index_t part) {
  const long_index_t ld = detail::workspace_ld(args);
  args.c = static_cast<Sum*>(args.workspace) + long_index_t(part) * args.batch * args.m * ld;
  args.ldc = index_t(ld);
  args.batch_stride_c = args.m * ld;
  return args;
}

}  // namespace detail

/// Adds up the parts that gemm_kernel left in the workspace and finishes the sums. launch() queues it after
/// gemm_kernel.
template <class Policy>
struct split_k_reduction {
  using args_type = gemm_args;
  using arch = typename Policy::arch;
  using stage = detail::result_stage<Policy>;
  static constexpr index_t block_size = stage::chunk.block_size();
  static constexpr index_t lds_bytes = 0;

  static constexpr const char* check(const gemm_args& args) {
    return args.workspace ? nullptr : "split_k needs a workspace, of workspace_bytes(args)";
  }

  static constexpr grid_size grid(const gemm_args& args) {
    return {ceil_div(args.n, stage::chunk.n) * ceil_div(args.m, stage::chunk.m), 1, args.batch};
  }

  TILEWRIGHT_HD void operator()(const typename Policy::args_type& args) const {
    using R = typename Policy::result_type;
    using Sum = detail::accumulator_t<typename Policy::element_type>;
    using rows = tile_distribution<stage::rows>;
    const exec::block_index block = exec::block_id();
    const index_t cols = ceil_div(args.n, stage::chunk.n), row = divide(block.x, cols);
    const multi_index<2> origin{{row * stage::chunk.m, (block.x - row * cols) * stage::chunk.n}};
    const detail::result_place<rows, R, Policy::vector> at{{args, origin, block.z, get_partition_index<rows>()}};
    static_distributed_tensor<Sum, rows> sums{};
    for (index_t part = 0; part < args.split_k; ++part) {
      const auto from = detail::with_workspace_as_c<Sum>(args, part);
      auto more = at.matrix(static_cast<const Sum*>(from.c), from.ldc, from.batch_stride_c);
      tile_elementwise_inout(
          [](Sum& x, Sum y) {
            if constexpr (__is_same(Sum, int)) {
              x = int(unsigned(x) + unsigned(y));
            } else {
              x += y;
            }
          },
          sums, more);
    }
    static_distributed_tensor<R, rows> result;
    detail::finish<Policy>(result, at, args, sums);
    store_tile(at.c_window, result);
  }
};

}  // namespace tilewright
