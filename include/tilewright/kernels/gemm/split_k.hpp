// SPDX-License-Identifier: MIT
// Split k: several blocks for one tile of C, for problems with few tiles and long k; the kernel that adds up.
#pragma once

#include <tilewright/kernels/gemm/epilogue/write_result.hpp>
#if !defined(__HIP__)
#include <tilewright/machine/exec/hopper.hpp>
#endif

namespace tilewright {

namespace detail {

/// What the kernel of a policy with split_k_kind::workspace writes: accumulators as they are.
template <class Policy>
struct split_k_partials : Policy {
  using result_type = accumulator_t<typename Policy::element_type>;
  using epilogue = tilewright::epilogue::none;
};

TILEWRIGHT_HD constexpr long_index_t workspace_ld(const gemm_args& args) { return round_up(args.n, 4); }

/// Words before the splits' accumulators, for kernels that count finished splits; 0 before the first launch.
inline constexpr index_t split_k_counters = 1024;

}  // namespace detail

/// Bytes of gemm_args::workspace for args.split_k splits of k: accumulators (split, batch, m, n) of 4 bytes, rows in
/// whole vectors. A kernel's own workspace_bytes(args) says whether it needs them.
constexpr long_index_t workspace_bytes(const gemm_args& args) {
  return (detail::split_k_counters + long_index_t(args.split_k) * args.batch * args.m * detail::workspace_ld(args)) * 4;
}

namespace detail {

/// Arguments whose C is the accumulators of a split.
template <class Sum, class Args>
TILEWRIGHT_HD Args with_workspace_as_c(Args args, index_t split) {
  const long_index_t ld = detail::workspace_ld(args);
  args.c = static_cast<Sum*>(args.workspace) + split_k_counters + long_index_t(split) * args.batch * args.m * ld;
  args.ldc = index_t(ld);
  args.batch_stride_c = args.m * ld;
  return args;
}

/// Adds the accumulators of all splits, in their order, to the sums of a tile. at: an epilogue_tile of the first
/// split's accumulators, whose arguments are those of with_workspace_as_c(); AtOnce: splits whose loads are in flight.
template <index_t AtOnce, class Sum, class Tile, class At, class Args>
TILEWRIGHT_HD void add_up_splits(Tile& sums, const At& at, const Args& partials) {
  const Sum* const first = static_cast<const Sum*>(partials.c);
  TILEWRIGHT_UNROLL(1)
  for (index_t i = 0; i < partials.split_k; i += AtOnce) {
    Tile more[AtOnce];
    unroll<AtOnce>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      const long_index_t split = min(i + j.value, partials.split_k - 1);
      more[j.value] =
          at.matrix(first + split * partials.batch * partials.batch_stride_c, partials.ldc, partials.batch_stride_c);
    });
    unroll<AtOnce>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      if (i + j.value >= partials.split_k) return;
      tile_elementwise_inout(
          [](Sum& x, Sum y) {
            if constexpr (__is_same(Sum, int)) {
              x = int(unsigned(x) + unsigned(y));
            } else {
              x += y;
            }
          },
          sums, more[j.value]);
    });
  }
}

/// Writes the block tile at `origin` of C from the accumulators of all splits, which are at `first` of the matrix of
/// problem `first_batch` that is C of `partials`, and then a batch of these matrices from one split to the next.
template <class Policy, class Args>
TILEWRIGHT_HD void write_sum_of_splits(const Args& args, const multi_index<2>& origin, long_index_t batch,
                                       const Args& partials, const multi_index<2>& first, long_index_t first_batch) {
  using Sum = accumulator_t<typename Policy::element_type>;
  using R = typename Policy::result_type;
  using stage = result_stage<Policy>;
  using distribution = tile_distribution<stage::rows>;
  const auto partition = get_partition_index<distribution>();
  epilogue_tile<distribution, Sum, min(4, stage::vector)> partial{partials, first, first_batch, partition};
  output_tile<distribution, R, Policy::vector> at{{args, origin, batch, partition}};
  TILEWRIGHT_UNROLL(1)
  for (index_t i = 0; i < stage::num_chunks; ++i) {
    static_distributed_tensor<Sum, distribution> sums{};
    add_up_splits<max(1, 32 / sums.num_elements), Sum>(sums, partial, partials);
    static_distributed_tensor<R, distribution> result;
    finish<epilogue_of<Policy>>(result, at, args, sums);
    store_tile(at.c_window, result);
    partial.origin[0] += stage::chunk.m;
    at.move_down(stage::chunk.m);
  }
}

/// Adds up the splits of k and applies the epilogue: each lane for four neighbours in a row of C. One type for all
/// tiles. R: C's elements; E: the epilogue; Vector: as that of epilogue_tile.
template <class Arch, class Sum, class R, class Args, class E, index_t Vector>
struct split_k_sum {
  using args_type = Args;
  using arch = Arch;
  static constexpr bool overlaps_previous = arch::value.has_wgmma;
  static constexpr index_t block_size = 128, lds_bytes = 0;
  static constexpr index_t wave_size = arch::value.wave_size, vector = 4, at_once = 8;  // splits in flight
  static constexpr index_t rows = block_size / wave_size, cols = wave_size * vector;    // of a block
  using distribution = tile_distribution<number<result_rows_encoding(rows, cols, rows, wave_size, vector)>::value>;
  using tile_type = static_distributed_tensor<Sum, distribution>;

  static constexpr const char* check(const args_type& args) {
    if (is_amd(Arch::value) &&
        long_index_t(ceil_div(args.n, cols)) * ceil_div(args.m, rows) * block_size > 0xffffffffLL)
      return "adding up the splits of k would take 2^32 threads or more; use several launches";
    return args.workspace ? nullptr : "split_k needs a workspace, of workspace_bytes(args)";
  }

  static constexpr grid_size grid(const args_type& args) {
    return {ceil_div(args.n, cols) * ceil_div(args.m, rows), 1, args.batch};
  }

  TILEWRIGHT_HD void operator()(args_type args) const {
    args.n = round_up(args.n, Vector);  // check() of a kernel for vectors, or room after rows, allows it
    const exec::block_index block = exec::block_id();
    const index_t across = ceil_div(args.n, cols), row = divide(block.x, across);
    const multi_index<2> origin{{row * rows, (block.x - row * across) * cols}};
    const auto partition = get_partition_index<distribution>();
    auto partials = with_workspace_as_c<Sum>(args, 0);
    partials.n = partials.ldc;  // whole vectors
    const epilogue_tile<distribution, Sum, vector> partial{partials, origin, block.z, partition};
#if TILEWRIGHT_HOPPER_PASS
    if constexpr (overlaps_previous) {
      exec::grid_dependency_launch();
      exec::grid_dependency_wait();
    }
#endif
    tile_type total{};
    add_up_splits<at_once, Sum>(total, partial, partials);
    const output_tile<distribution, R, Vector> at{{args, origin, block.z, partition}};
    static_distributed_tensor<R, distribution> result;
    finish<E>(result, at, args, total);
    store_tile(at.c_window, result);
  }
};

}  // namespace detail

/// Adds up the accumulators that gemm_kernel<Policy> wrote to the workspace and applies the epilogue. launch() queues
/// it after gemm_kernel.
template <class Policy>
using split_k_reduction =
    detail::split_k_sum<typename Policy::arch, detail::accumulator_t<typename Policy::element_type>,
                        typename Policy::result_type, typename Policy::args_type, detail::epilogue_of<Policy>,
                        Policy::vector>;

}  // namespace tilewright
