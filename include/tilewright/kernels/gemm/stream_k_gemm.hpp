// SPDX-License-Identifier: MIT
// GEMM by stream-K on any target: blocks share the tiles of a round that does not fill the GPU.
#pragma once

#include <tilewright/block/schedule/stream_k_ranges.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>

namespace tilewright {

namespace detail {

/// Tiles of all problems, one problem after the other; gemm_args::split_k workers.
TILEWRIGHT_HD constexpr stream_k_ranges stream_k_ranges_of(const gemm_args& args, const block_tile& tile,
                                                           index_t dies) {
  return {.tiles = ceil_div(args.n, tile.n) * ceil_div(args.m, tile.m) * args.batch,
          .k_tiles = ceil_div(args.k, tile.k),
          .workers = args.split_k,
          .dies = dies};
}

}  // namespace detail

/// Bytes of gemm_args::workspace for stream_k_gemm with a block tile.
constexpr long_index_t stream_k_workspace_bytes(const gemm_args& args, const block_tile& tile) {
  return (detail::split_k_counters +
          long_index_t(detail::stream_k_ranges_of(args, tile, 1).slots()) * tile.m * tile.n) *
         4;
}

/// The kernel of a policy that does not split k, for launch(): C = epilogue(A B) as gemm_args says, with the tiles of C
/// dealt out as stream_k_ranges says. gemm_args::split_k: blocks that run at the same time, as many as the GPU has
/// compute units, or a multiple of that. The block of a shared tile that ends last adds up the partial sums, so no
/// block waits; their order is always the same. The workspace's first 4096 bytes are 0 before the first launch.
template <class Policy>
struct stream_k_gemm : gemm_kernel<Policy> {
  using base = gemm_kernel<Policy>;
  using args_type = typename Policy::args_type;
  using Sum = detail::accumulator_t<typename Policy::element_type>;
  using writer = detail::split_k_partials<Policy>;  ///< of partial sums
  static constexpr block_tile tile = Policy::tile;  ///< of C and k, of a block
  static constexpr index_t lds_bytes = max(base::lds_bytes, detail::result_stage<writer>::bytes);
  static_assert(Policy::split_k == split_k_kind::none && Policy::products == 1,
                "stream_k_gemm: the policy splits k itself or has two products; use gemm_kernel");

  /// How these arguments share the tiles.
  TILEWRIGHT_HD static constexpr stream_k_ranges ranges_of(const args_type& args) {
    return detail::stream_k_ranges_of(args, tile, Policy::order.dies);
  }
  /// Bytes of gemm_args::workspace that these arguments need.
  static constexpr long_index_t workspace_bytes(const args_type& args) { return stream_k_workspace_bytes(args, tile); }
  static constexpr grid_size grid(const args_type& args) { return {ranges_of(args).blocks(), 1, 1}; }

  static constexpr const char* check(const args_type& args) {
    if (args.split_k < 1 || args.split_k > detail::split_k_counters)
      return "stream_k_gemm: split_k is the number of blocks that run at the same time, from 1 to 1024";
    if (long_index_t(ceil_div(args.n, tile.n)) * ceil_div(args.m, tile.m) * ceil_div(args.k, tile.k) * args.batch >
        0x7fffffffLL - detail::split_k_counters)
      return "stream_k_gemm: there are 2^31 tiles along m, n and k or more; use a larger block tile, or gemm_kernel";
    args_type whole = args;
    whole.split_k = 1;
    if (const char* why = base::check(whole)) return why;
    return args.workspace || ranges_of(args).slots() == 0
               ? nullptr
               : "stream_k_gemm needs a workspace, of the kernel's workspace_bytes(args)";
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    const stream_k_ranges ranges = ranges_of(args);
    stream_k_ranges::range own = ranges.of_block(exec::block_id().x);
    TILEWRIGHT_UNROLL(1)
    while (own.begin < own.end) {
      const detail::stream_k_segment segment = ranges.first_segment(own);
      compute(args, segment, lds);
      own.begin += segment.count;
      exec::block_sync();  // what others read from LDS is no longer needed
    }
  }

 private:
  TILEWRIGHT_HD static void compute(const args_type& args, const detail::stream_k_segment& segment,
                                    exec::lds_pointer lds) {
    constexpr grid_order order{
        .curve = Policy::order.curve, .group_rows = Policy::order.group_rows, .snake = Policy::order.snake};
    const index_t down = ceil_div(args.m, tile.m), across = ceil_div(args.n, tile.n);
    const index_t batch = divide(segment.tile, down * across);
    const multi_index<2> at = order.tile_along<order.curve>(segment.tile - batch * down * across, down, across);
    const multi_index<2> origin{{at[0] * tile.m, at[1] * tile.n}};
    static_distributed_tensor<Sum, c_distribution<tile>> c{};  // (tile.m, tile.n)
    const index_t k0 = base::tiles_of(args).first_origin + segment.first * tile.k;
    base::accumulate(c, args, origin, {segment.count, k0}, batch, lds);
    if (segment.peers == 1) return write_result<Policy>(c, args, origin, batch, lds);
    write_result<writer>(c, partial_sums(args, segment.slot), {}, 0, lds);
    unsigned* const counter = static_cast<unsigned*>(args.workspace) + segment.shared_tile;
    if (!exec::is_last_arrival(counter, unsigned(segment.peers), lds)) return;
    args_type partials = partial_sums(args, segment.first_slot);
    partials.split_k = segment.peers;
    detail::write_sum_of_splits<Policy>(args, origin, batch, partials, {}, 0);
  }

  /// Arguments whose C is a slot of the workspace: a tile's partial sums; the next slot is a batch stride away.
  TILEWRIGHT_HD static args_type partial_sums(args_type args, index_t slot) {
    constexpr index_t size = tile.m * tile.n;
    args.c = static_cast<Sum*>(args.workspace) + detail::split_k_counters + long_index_t(slot) * size;
    args.m = tile.m, args.n = tile.n, args.ldc = tile.n;
    args.batch = 1, args.batch_stride_c = size;
    return args;
  }
};

}  // namespace tilewright
