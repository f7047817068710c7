// SPDX-License-Identifier: MIT
// Several blocks for one tile of C, each with a part of k: for problems with few tiles and long k.
#pragma once

#include <tilewright/gemm/epilogue.hpp>

namespace tilewright {

/// What the kernel of a policy with split_k_kind::workspace writes: plain sums.
template <class Policy>
struct partial_sums : Policy {
  using result_type = accumulator_t<typename Policy::element_type>;
  static constexpr epilogue_options epilogue{};
};

namespace detail {
TILEWRIGHT_HD constexpr long_index_t workspace_ld(const gemm_args& args) { return round_up(args.n, 4); }
}  // namespace detail

/// Bytes that gemm_args::workspace must have.
constexpr long_index_t workspace_bytes(const gemm_args& args) {
  return long_index_t(args.split_k) * args.batch * args.m * detail::workspace_ld(args) * 4;
}

/// Where a part's sums lie, as the C of a product without alpha and beta.
template <class Sum>
TILEWRIGHT_HD gemm_args with_workspace_as_c(gemm_args args, index_t part) {
  const long_index_t ld = detail::workspace_ld(args);
  args.c = static_cast<Sum*>(args.workspace) + long_index_t(part) * args.batch * args.m * ld;
  args.ldc = index_t(ld);
  args.batch_stride_c = args.m * ld;
  args.alpha = 1;
  args.beta = 0;
  return args;
}

/// Adds up the parts that gemm_kernel left in the workspace and finishes the sums. launch() queues it after
/// gemm_kernel.
template <class Policy>
struct split_k_reduction {
  using args_type = gemm_args;
  using arch = typename Policy::arch;
  using stage = result_stage<Policy>;
  static constexpr index_t block_size = stage::chunk.block_size();
  static constexpr index_t lds_bytes = 0;

  static constexpr const char* check(const gemm_args& args) {
    return args.workspace ? nullptr : "split_k needs a workspace, of workspace_bytes(args)";
  }

  static constexpr grid_size grid(const gemm_args& args) {
    return {ceil_div(args.n, stage::chunk.n) * ceil_div(args.m, stage::chunk.m), 1, args.batch};
  }

  TILEWRIGHT_HD void operator()(const gemm_args& args) const {
    using R = typename Policy::result_type;
    using Sum = accumulator_t<typename Policy::element_type>;
    using rows = tile_distribution<stage::rows>;
    constexpr auto lengths = make_tuple(number<stage::chunk.m>{}, number<stage::chunk.n>{});
    const exec::block_index block = exec::block_id();
    const index_t cols = ceil_div(args.n, stage::chunk.n), row = divide(block.x, cols);
    const multi_index<2> origin{{row * stage::chunk.m, (block.x - row * cols) * stage::chunk.n}};
    const multi_index<2> partition = get_partition_index<rows>();
    static_distributed_tensor<Sum, rows> sums{};
    for (index_t part = 0; part < args.split_k; ++part) {
      const gemm_args from = with_workspace_as_c<Sum>(args, part);
      const Sum* const begin = static_cast<const Sum*>(from.c) + block.z * from.batch_stride_c;
      const auto more = detail::load_rows<Sum>(begin, args, origin, rows{}, from.ldc, number<1>{},
                                               number<Policy::vector>{}, partition);
      for (index_t i = 0; i < rows::num_elements; ++i) {
        if constexpr (__is_same(Sum, int)) {
          sums.thread_buffer[i] = int(unsigned(sums.thread_buffer[i]) + unsigned(more.thread_buffer[i]));
        } else {
          sums.thread_buffer[i] += more.thread_buffer[i];
        }
      }
    }
    const auto result = detail::finished_rows<Policy>(sums, args, origin, block.z, partition);
    R* const c = static_cast<R*>(args.c) + block.z * args.batch_stride_c;
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        c, make_tuple(args.m, args.n), make_tuple(args.ldc, number<1>{}), number<Policy::vector>{});
    store_tile(make_tile_window(view, lengths, origin, rows{}), result);
  }
};

}  // namespace tilewright
