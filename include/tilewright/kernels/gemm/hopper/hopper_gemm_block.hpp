// SPDX-License-Identifier: MIT
// A block of warp_specialized_pipeline: what its device code asks of a policy.
#pragma once

#include <tilewright/block/mma/fragments.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_lds.hpp>
#include <tilewright/kernels/gemm/hopper/warp_specialized_pipeline.hpp>

namespace tilewright {

namespace detail {

template <class Args, index_t Products>
struct hopper_gemm_device_args;
struct work_tile;

/// A tensor, and the last coordinate of boxes there.
template <class Map>
struct box_source {
  const Map& map;
  index_t z;
};

}  // namespace detail

/// What the device code of warp_specialized_pipeline asks of a policy.
template <class Policy>
struct hopper_gemm_block {
  using T = typename Policy::element_type;
  using element_type = T;
  using result_type = typename Policy::result_type;
  using epilogue = detail::epilogue_of<Policy>;
  using device_args = detail::hopper_gemm_device_args<typename Policy::args_type, Policy::products>;
  using unit_type = detail::work_tile;
  /// Unit `u` of the schedule.
  template <class Args>
  TILEWRIGHT_HD static constexpr auto unit_of(const Args& args, index_t u) {
    auto unit = args.schedule.split_of(u);
    unit.tile = args.order(args.schedule.tile_of(u, unit));
    return unit;
  }
  /// Where boxes of A come from; z: their last coordinate.
  template <class Args>
  TILEWRIGHT_HD static constexpr auto a_source(const Args& args, index_t z) {
    return detail::box_source<decltype(args.a)>{args.a, z};
  }
  static constexpr group_kind groups = Policy::groups;
  static constexpr bool is_block_scaled = Policy::is_block_scaled;
  /// Whether A comes from other GPUs, tiles of C go there, or a wave of the block copies to them: see parallel/.
  static constexpr bool receives_operands = false, sends_tiles = false, has_sender = false;
  static constexpr block_tile tiles = Policy::tile;
  static constexpr hopper_gemm_tile tile =
      Policy::pipeline::tile.of_size(tiles.m, tiles.n, tiles.waves_m / 4, Policy::products);
  static_assert(tiles == wgmma_tile<T>(tiles.m, tiles.n, tile.consumers_per_tile()) && tile.is_sound(),
                "warp_specialized_pipeline: the tile must be a wgmma_tile whose m is a multiple of 64 for each of 1 or "
                "2 consumers and whose n is 32 or a multiple of 16 from 64 to 256, with at most 160 accumulators for "
                "each thread (192 in ping-pong), of two products with 64 rows for each consumer and columns "
                "that are a multiple of 32; a cluster has at most 8 blocks, a power of two");
  static constexpr operand_major a_major = tile.swap_ab ? Policy::b_major : Policy::a_major,
                                 b_major = tile.swap_ab ? Policy::a_major : Policy::b_major;
  static constexpr detail::hopper_gemm_lds lds{tile,
                                               {tile.m, sizeof(T), a_major == operand_major::k},
                                               {tile.n, sizeof(T), b_major == operand_major::k},
                                               sizeof(result_type),
                                               is_block_scaled ? detail::round_up((tile.m + 4) * 4, 128) : 0};
  static constexpr index_t num_stages = lds.num_stages(), tile_k = lds.a.k();
  static_assert(lds.a.is_sound() && lds.b.is_sound() && detail::is_tma_swizzle(lds.box_layout()),
                "warp_specialized_pipeline: the layouts in LDS are not those of wgmma and of bulk copies");
  static_assert(b_major == operand_major::k || tile.result_n() % tile_k == 0 || tile.products == 1,
                "warp_specialized_pipeline: columns of each of two products must be a multiple of 64 where B is "
                "contiguous along n");
  static_assert(!tile.unaligned || (groups == group_kind::none && !is_block_scaled && tile.products == 1),
                "warp_specialized_pipeline: tiles with unaligned are for plain products; use another tile for groups, "
                "scaled blocks and two products");
  static_assert(num_stages >= 2 && lds.bytes() <= arch::sm90::value.lds_bytes,
                "warp_specialized_pipeline: the block tile needs more LDS than the GPU has; use a smaller one");
  static_assert(lds.stage_bytes() % 1024 == 0 && 8 * lds.num_barriers() <= detail::hopper_gemm_lds::barrier_bytes);

  /// Sums of the block tile.
  using sums_type = static_distributed_tensor<float, c_distribution<tiles>>;
  /// A wave's rows of a box, and who addresses them when they are written.
  static constexpr arch::lane_map result = arch::describe(tiles.op).c;
  static constexpr distribution_encoding box = detail::wave_tile_encoding(tile.box_n() / 16, result);
  static constexpr distribution_encoding box_addresses = detail::wave_tile_encoding(
      tile.box_n() / 16, tile.swap_ab ? arch::address_map(arch::exchange_of(arch::lds_op::ldmatrix), result)
                                      : detail::ldmatrix_address_map(result));
  TILEWRIGHT_HD static constexpr auto box_descriptor() {
    return tensor_descriptor<number<detail::operand_graph(lds.box_layout(), tile.swap_ab)>::value>{
        {}, lds.box_layout().tile.rows * lds.box_layout().tile.cols};
  }
};

}  // namespace tilewright
