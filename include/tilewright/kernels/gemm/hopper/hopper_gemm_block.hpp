// SPDX-License-Identifier: MIT
// A block of warp_specialized_pipeline: the facts that its roles ask of a policy, and the types of the roles.
#pragma once

#include <tilewright/block/mma/fragments.hpp>
#include <tilewright/block/pipeline/warp_roles.hpp>
#include <tilewright/block/schedule/stream_k_schedule.hpp>
#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_facts.hpp>
#include <tilewright/kernels/gemm/hopper/warp_specialized_pipeline.hpp>

namespace tilewright {

namespace detail {

template <class Args, index_t Products>
struct hopper_gemm_device_args;

/// A work tile as the roles of a block see it.
struct hopper_work_tile : work_tile {
  index_t a_z = 0, b_z = 0, c_z = 0;   ///< Last coordinates of the TMA boxes of A, B and C: the matrix of the batch.
  index_t first_row = 0, first_k = 0;  ///< First row of A and C, and first k: of the group, where there are groups.
  index_t m0 = 0, n0 = 0;              ///< First row and column of this block's tile, as the tile counts.

  /// Whether A has any of the rows from m on.
  TILEWRIGHT_HD constexpr bool has_rows(index_t) const { return true; }
};

/// A tensor that TMA loads from or stores to, and the last coordinate of boxes there.
template <class Map>
struct tma_tensor {
  const Map& map;
  index_t z;
};

template <class Block>
struct stream_k_scheduler;
template <class Block>
struct operand_pipeline;
template <class Block>
struct scaled_operand_pipeline;
template <class Block>
struct unaligned_operand_pipeline;
template <class Block>
struct tma_producer;
template <class Block>
struct unaligned_producer;
template <class Block>
struct no_assistant;
template <class Block>
struct scale_loader;
template <class Block>
struct wgmma_mainloop;
template <class Block>
struct block_scaled_mainloop;
template <class Block>
struct c_slots;
template <class Block>
struct no_c_slots;
template <class Block>
struct slot_epilogue;
template <class Block>
struct unaligned_epilogue;

/// The types that do the work of a block; the concept HopperGemmBlock says what is asked of each. Other kinds of blocks
/// derive from this and replace some.
template <class Block>
struct hopper_gemm_roles {
  static constexpr bool is_scaled = Block::is_block_scaled, is_unaligned = Block::tile.unaligned;
  using scheduler = stream_k_scheduler<Block>;
  using pipeline =
      conditional_t<is_scaled, scaled_operand_pipeline<Block>,
                    conditional_t<is_unaligned, unaligned_operand_pipeline<Block>, operand_pipeline<Block>>>;
  using producer = conditional_t<is_unaligned, unaligned_producer<Block>, tma_producer<Block>>;
  using assistant = conditional_t<is_scaled, scale_loader<Block>, no_assistant<Block>>;
  using mainloop = conditional_t<is_scaled, block_scaled_mainloop<Block>, wgmma_mainloop<Block>>;
  using slots = conditional_t<is_unaligned, no_c_slots<Block>, c_slots<Block>>;
  using epilogue = conditional_t<is_unaligned, unaligned_epilogue<Block>, slot_epilogue<Block>>;
};

}  // namespace detail

/// The block of a policy of warp_specialized_pipeline.
template <class Policy>
struct hopper_gemm_block {
  using element_type = typename Policy::element_type;
  using result_type = typename Policy::result_type;
  using epilogue = detail::epilogue_of<Policy>;
  using device_args = detail::hopper_gemm_device_args<typename Policy::args_type, Policy::products>;
  using work_type = detail::hopper_work_tile;
  using roles = detail::hopper_gemm_roles<hopper_gemm_block>;

  /// Work tile u of the schedule, but for m0 and n0.
  template <class Args>
  TILEWRIGHT_HD static constexpr work_type work_at(const Args& args, index_t u) {
    work_type work{args.schedule.split_of(u)};
    work.tile = args.order(args.schedule.tile_of(u, work));
    work.a_z = work.b_z = work.c_z = work.tile.batch;
    return work;
  }
  /// What role load loads A of a work tile from.
  template <class Args>
  TILEWRIGHT_HD static constexpr auto source_of_a(const Args& args, const auto& work) {
    return detail::tma_tensor<decltype(args.a)>{args.a, work.a_z};
  }

  static constexpr group_kind groups = Policy::groups;              ///< what divides A, B and C into groups
  static constexpr bool is_block_scaled = Policy::is_block_scaled;  ///< A and B have scales for blocks
  static constexpr block_tile tiles = Policy::tile;                 ///< for one set of consumers of a tile
  /// what a block computes
  static constexpr hopper_gemm_tile tile =
      Policy::pipeline::tile.of_size(tiles.m, tiles.n, tiles.waves_m / 4, Policy::products);
  static_assert(tiles == wgmma_tile<element_type>(tiles.m, tiles.n, tile.consumers_per_tile()) && tile.is_sound(),
                "warp_specialized_pipeline: the tile must be a wgmma_tile whose m is a multiple of 64 for each of 1 or "
                "2 consumers and whose n is a multiple of 8 up to 256, with at most 160 accumulators for "
                "each thread (192 in ping-pong), of two products with 64 rows for each consumer and columns "
                "that are a multiple of 32; a cluster has at most 8 blocks, a power of two");
  /// Which dimension is contiguous of wgmma's operands: with swap_ab its A is the GEMM's B.
  static constexpr operand_major a_major = tile.swap_ab ? Policy::b_major : Policy::a_major,
                                 b_major = tile.swap_ab ? Policy::a_major : Policy::b_major;
  /// Elements and orders of A, B and C.
  static constexpr hopper_gemm_operands operands{
      arch::matrix_element_v<element_type>, arch::matrix_element_v<result_type>, Policy::a_major == operand_major::k,
      Policy::b_major == operand_major::k};
  /// Where a block's operands, slots of C and barriers are in LDS.
  static constexpr detail::hopper_gemm_lds lds =
      detail::lds_of(tile, operands, is_block_scaled ? detail::scale_bytes_of(tile) : 0);
  static constexpr detail::hopper_gemm_lds::regions regions = lds.plan();  ///< offsets in bytes
  /// of the pipeline of A and B; elements along k of each
  static constexpr index_t num_stages = lds.num_stages(), tile_k = lds.a.k();
  static_assert(lds.a.is_sound() && lds.b.is_sound() && detail::is_tma_swizzle(lds.slot_layout()),
                "warp_specialized_pipeline: the layouts in LDS are not those of wgmma and of TMA");
  static_assert(b_major == operand_major::k || tile.result_n() % tile_k == 0 || tile.products == 1,
                "warp_specialized_pipeline: columns of each of two products must be a multiple of 64 where B is "
                "contiguous along n");
  static_assert(!tile.unaligned || (groups == group_kind::none && !is_block_scaled && tile.products == 1),
                "warp_specialized_pipeline: tiles with unaligned are for plain products; use another tile for groups, "
                "scaled blocks and two products");
  static_assert(num_stages >= 2 && regions.bytes <= arch::sm90::value.lds_bytes,
                "warp_specialized_pipeline: the block tile needs more LDS than the GPU has; use a smaller one");
  static_assert(lds.stage_bytes() % 1024 == 0 && 8 * lds.num_barriers() <= detail::hopper_gemm_lds::barrier_bytes);

  /// Registers of a thread that moves data (more where it shifts or gathers), and of one that multiplies. One consumer
  /// leaves room for all.
  static constexpr detail::role_registers registers =
      tile.consumers == 1 ? detail::role_registers{.producer = 0, .consumer = 0}
      : tile.unaligned    ? detail::role_registers{.producer = 64, .consumer = 192}
      : Policy::gathers_a ? detail::role_registers{.producer = 56, .consumer = 224}
                          : detail::role_registers{.producer = 40, .consumer = 232};
  static_assert(registers.fit(tile.producers(), tile.consumers, tile.blocks),
                "warp_specialized_pipeline: the consumers wait for more registers than an SM has for them");
  /// Whether gemm_args::split_k may be more than 1: all tiles are split into equal splits, which another kernel adds
  /// up.
  static constexpr bool can_split_all_tiles =
      groups == group_kind::none && tile.products == 1 && !is_block_scaled && !tile.ping_pong;
  /// What the host checks and prepares with.
  static constexpr detail::hopper_gemm_facts facts{lds, operands, can_split_all_tiles};

  /// C of the block tile: (m, n) floats in the registers of its consumers.
  using accumulators = static_distributed_tensor<float, c_distribution<tiles>>;
  /// A warp's rows of a box of C, and who addresses them when they are written.
  static constexpr arch::lane_map result = arch::describe(tiles.op).c;
  /// Which of its elements a lane of the warp holds.
  static constexpr distribution_encoding box = detail::wave_tile_encoding(tile.box_n() / 16, result);
  /// Which rows of the box each lane addresses for stmatrix.
  static constexpr distribution_encoding box_addresses = detail::wave_tile_encoding(
      tile.box_n() / 16, tile.swap_ab ? arch::address_map(arch::exchange_of(arch::lds_op::ldmatrix), result)
                                      : detail::ldmatrix_address_map(result));
  /// The box in LDS: 64 rows of C, box_n() columns, swizzled as TMA reads it.
  TILEWRIGHT_HD static constexpr auto box_descriptor() {
    return tensor_descriptor<number<detail::operand_graph(lds.slot_layout(), tile.swap_ab)>::value>{
        {}, lds.slot_layout().tile.rows * lds.slot_layout().tile.cols};
  }
};

}  // namespace tilewright
