// SPDX-License-Identifier: MIT
// How warp_specialized_pipeline divides a block tile: roles of warpgroups, blocks in clusters, what lies where in LDS.
#pragma once

#include <tilewright/arch/sm90.hpp>
#include <tilewright/gemm/gemm_policy.hpp>
#include <tilewright/mma/fragment_store.hpp>
#include <tilewright/mma/wgmma_operand.hpp>

namespace tilewright {

/// Blocks form clusters: `share_b` blocks above each other, which receive the same tile of B at once (multicast), times
/// `share_a` blocks side by side, which receive the same tile of A.
struct cluster_shape {
  index_t share_b = 1, share_a = 1;
  index_t blocks = 1;  // see specialized_tile
  bool swap_ab = false, ping_pong = false;

  TILEWRIGHT_HD constexpr index_t size() const { return share_b * share_a; }
  friend constexpr bool operator==(const cluster_shape&, const cluster_shape&) = default;
};

/// For Hopper: persistent blocks of a producer warpgroup, which fills stages in LDS by bulk copies, and one to three
/// consumers, which multiply with wgmma; the last round of tiles is split along k (stream-K) where that is faster.
template <cluster_shape Cluster = cluster_shape{}>
struct warp_specialized_pipeline {
  static constexpr cluster_shape cluster = Cluster;
};

/// A block tile of m x n for it: a stage has 128 bytes of each row along k.
template <class T>
TILEWRIGHT_HD constexpr block_tile wgmma_tile(index_t m, index_t n, index_t consumers = 2) {
  return {m,
          n,
          128 / index_t(sizeof(T)),
          4 * consumers,
          1,
          sizeof(T) == 2 ? arch::matrix_op::wgmma_k16 : arch::matrix_op::wgmma_k32_b8};
}

template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector, block_tile Tile,
          cluster_shape Cluster>
struct gemm_policy<Arch, T, AMajor, BMajor, Vector, Tile, warp_specialized_pipeline<Cluster>>
    : detail::gemm_choices<Arch, T, AMajor, BMajor, Vector, Tile> {
  static_assert(sizeof(T) == 2 || (AMajor == operand_major::k && BMajor == operand_major::k),
                "gemm_policy: wgmma takes operands of 8 bits only where they are contiguous along k");
  using pipeline = warp_specialized_pipeline<Cluster>;
};

/// A block computes m x n sums with `consumers` warpgroups, each of m / consumers rows in groups of 64, and one more
/// warpgroup that starts copies. If there are two products, the first n / 2 columns are the first's.
struct specialized_tile {
  index_t m = 128, n = 256;
  index_t share_b = 1, share_a = 1;
  index_t consumers = 2, products = 1;
  index_t blocks = 1;      // that LDS holds at once on a multiprocessor
  bool swap_ab = false;    // computes C^T = B^T A^T: m and share_a count columns of C, n and share_b rows
  bool ping_pong = false;  // each of two consumers computes tiles of its own: one writes while the other multiplies

  TILEWRIGHT_HD constexpr index_t sharing() const { return ping_pong ? 1 : consumers; }  // a tile
  TILEWRIGHT_HD constexpr index_t block_size() const { return (consumers + 1) * 128; }
  TILEWRIGHT_HD constexpr index_t cluster() const { return share_b * share_a; }

  /// Blocks that copy a tile of B which share_b blocks share: each whole groups of 8 rows, the swizzle's period.
  TILEWRIGHT_HD constexpr index_t copies_of_b() const { return result_n() % (8 * share_b) == 0 ? share_b : 2; }

  /// Results of wgmma, 64 x n each, that a consumer has below each other; accumulators of each of its threads.
  TILEWRIGHT_HD constexpr index_t repeat_m() const { return m / (64 * sharing()); }
  TILEWRIGHT_HD constexpr index_t accumulators() const { return repeat_m() * n / 2; }

  /// Two consumers take turns at the end of a tile: one multiplies while the other writes.
  TILEWRIGHT_HD constexpr bool takes_turns() const { return sharing() == 2; }

  /// C has as many columns as one product. It is stored in boxes of 64 rows and store_n() columns; the last box of a
  /// row may have less: last_n().
  TILEWRIGHT_HD constexpr index_t result_n() const { return n / products; }
  TILEWRIGHT_HD constexpr index_t store_n() const {
    return result_n() % 32 != 0 || (result_n() % 64 == 0 && consumers < 3) ? 64 : 32;
  }
  TILEWRIGHT_HD constexpr index_t boxes_per_row() const { return ceil_div(result_n(), store_n()); }
  TILEWRIGHT_HD constexpr index_t last_n() const { return result_n() - (boxes_per_row() - 1) * store_n(); }
  TILEWRIGHT_HD constexpr bool is_narrow(index_t box) const {
    return last_n() < store_n() && modulo(box, boxes_per_row()) + 1 == boxes_per_row();
  }
  TILEWRIGHT_HD constexpr index_t boxes_of_consumer() const { return repeat_m() * boxes_per_row(); }
  TILEWRIGHT_HD constexpr index_t num_boxes() const { return sharing() * boxes_of_consumer(); }

  /// The order in which a tile's boxes leave: one consumer after the other if they take turns,
  /// else a box of each in turn.
  TILEWRIGHT_HD constexpr index_t box_number(index_t consumer, index_t box) const {
    return takes_turns() ? consumer * boxes_of_consumer() + box : box * sharing() + consumer;
  }
  struct position {
    index_t m, n, consumer;
  };
  /// Where box `number` begins in the tile, and whose it is.
  TILEWRIGHT_HD constexpr position box_position(index_t number) const {
    const index_t consumer = takes_turns() ? divide(number, boxes_of_consumer()) : modulo(number, sharing());
    const index_t box = takes_turns() ? modulo(number, boxes_of_consumer()) : divide(number, sharing());
    return {(divide(box, boxes_per_row()) * sharing() + consumer) * 64, modulo(box, boxes_per_row()) * store_n(),
            consumer};
  }

  /// Registers of each thread: of the copying warpgroup, more if a wave sends to other GPUs; of consumers.
  TILEWRIGHT_HD constexpr index_t producer_registers(bool sends) const { return consumers == 2 && sends ? 72 : 40; }
  TILEWRIGHT_HD constexpr index_t consumer_registers(bool sends) const {
    return consumers > 2 ? 152 : sends ? 216 : 232;
  }

  TILEWRIGHT_HD constexpr bool is_sound() const {
    const bool known_n = n % 16 == 0 && 16 <= n && n <= 256;
    if (consumers < 1 || consumers > (ping_pong ? 2 : 3) || m < 64 || m % (64 * sharing()) != 0 || !known_n)
      return false;
    const bool room = accumulators() <= (consumers == 3 ? 96 : ping_pong ? 192 : 160);
    const bool two = products == 2 && repeat_m() == 1 && result_n() % 32 == 0 && !swap_ab;
    return room && (products == 1 || two) && detail::is_power_of_two(cluster()) && cluster() <= 8 &&
           m % (8 * share_a) == 0;
  }
  friend constexpr bool operator==(const specialized_tile&, const specialized_tile&) = default;
};

namespace detail {

/// Scales of A of a stage, for m rows: a copy begins up to three rows before them, where 16 bytes do.
TILEWRIGHT_HD constexpr index_t scale_rows(index_t m) { return m + 4; }

/// Where everything lies in a block's LDS, in bytes: stages of A and B; boxes of C, 64 rows each; barriers; scales.
struct specialized_lds {
  specialized_tile tile;
  wgmma_operand a, b;
  index_t result_bytes;     // of an element of C
  index_t scale_bytes = 0;  // of a stage's scales: those of A's rows, then those of B

  TILEWRIGHT_HD constexpr index_t stage_bytes() const { return a.bytes() + b.bytes(); }
  TILEWRIGHT_HD constexpr wgmma_operand b_of_product() const {
    return {b.rows / tile.products, b.element_bytes, b.k_is_contiguous};
  }
  TILEWRIGHT_HD constexpr index_t box_bytes() const { return 64 * tile.store_n() * result_bytes; }
  TILEWRIGHT_HD constexpr index_t narrow_box_bytes() const { return 64 * tile.last_n() * result_bytes; }
  static constexpr index_t barrier_bytes = 512;

  /// As many stages as fit with two boxes for each consumer; then as many boxes as still fit and divide those
  /// of the tile: so each box has one place for all tiles.
  TILEWRIGHT_HD constexpr index_t num_stages() const {
    return min(12, (room() - 2 * tile.consumers * box_bytes()) / (stage_bytes() + scale_bytes));
  }
  TILEWRIGHT_HD constexpr index_t num_boxes() const {
    index_t n = min(10, (room() - num_stages() * (stage_bytes() + scale_bytes)) / box_bytes());
    while (modulo(tile.num_boxes(), n) != 0) --n;
    return n;
  }
  /// Barriers of 8 bytes: two for each stage; for each box two and one for each consumer.
  TILEWRIGHT_HD constexpr index_t num_barriers() const { return 2 * num_stages() + (2 + tile.consumers) * num_boxes(); }
  TILEWRIGHT_HD constexpr index_t boxes_offset() const { return num_stages() * stage_bytes(); }
  TILEWRIGHT_HD constexpr index_t barriers_offset() const { return boxes_offset() + num_boxes() * box_bytes(); }
  TILEWRIGHT_HD constexpr index_t scales_offset() const { return barriers_offset() + barrier_bytes; }
  TILEWRIGHT_HD constexpr index_t bytes() const { return scales_offset() + num_stages() * scale_bytes; }

  /// A wave's 16 rows of a box; or a whole box of C^T, by columns.
  TILEWRIGHT_HD constexpr swizzled_layout box_layout() const {
    return tile.swap_ab ? bulk_swizzle(tile.store_n(), 64 * result_bytes, result_bytes)
                        : bulk_swizzle(16, tile.store_n() * result_bytes, result_bytes);
  }

 private:
  /// A multiprocessor keeps 1 KiB of each block for itself.
  TILEWRIGHT_HD constexpr index_t room() const {
    return (arch::sm90::value.lds_bytes - (tile.blocks - 1) * 1024) / tile.blocks / 16 * 16 - barrier_bytes;
  }
};

template <class Args, index_t Products>
struct specialized_args;
struct work_unit;

/// A tensor, and the last coordinate of boxes there.
template <class Map>
struct box_source {
  const Map& map;
  index_t z;
};

}  // namespace detail

/// What the device code of warp_specialized_pipeline asks of a policy.
template <class Policy>
struct specialized_block {
  using T = typename Policy::element_type;
  using element_type = T;
  using result_type = typename Policy::result_type;
  using epilogue = detail::epilogue_of<Policy>;
  using device_args = detail::specialized_args<typename Policy::args_type, Policy::products>;
  using unit_type = detail::work_unit;
  /// Unit `u` of the schedule.
  template <class Args>
  TILEWRIGHT_HD static constexpr auto unit_of(const Args& args, index_t u) {
    return args.schedule(u);
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
  static constexpr cluster_shape cluster = Policy::pipeline::cluster;
  static constexpr block_tile tiles = Policy::tile;
  static constexpr index_t consumers = cluster.ping_pong ? 2 : tiles.waves_m / 4;
  static constexpr specialized_tile tile{tiles.m,          tiles.n,        cluster.share_b, cluster.share_a,  consumers,
                                         Policy::products, cluster.blocks, cluster.swap_ab, cluster.ping_pong};
  static_assert(tiles == wgmma_tile<T>(tiles.m, tiles.n, tile.sharing()) && tile.is_sound(),
                "warp_specialized_pipeline: the tile must be a wgmma_tile whose m is a multiple of 64 for each of 1 to "
                "3 consumers and whose n is a multiple of 16 up to 256, with at most 160 accumulators for each thread "
                "(96 with 3 consumers, 192 in ping-pong), of two products with 64 rows for each consumer and columns "
                "that are a multiple of 32; a cluster has at most 8 blocks, a power of two");
  static constexpr operand_major a_major = tile.swap_ab ? Policy::b_major : Policy::a_major,
                                 b_major = tile.swap_ab ? Policy::a_major : Policy::b_major;
  static constexpr detail::specialized_lds lds{tile,
                                               {tile.m, sizeof(T), a_major == operand_major::k},
                                               {tile.n, sizeof(T), b_major == operand_major::k},
                                               sizeof(result_type),
                                               is_block_scaled ? detail::round_up((tile.m + 4) * 4, 128) : 0};
  static constexpr index_t num_stages = lds.num_stages(), tile_k = lds.a.k();
  static_assert(lds.a.is_sound() && lds.b.is_sound() && detail::is_bulk_swizzle(lds.box_layout()),
                "warp_specialized_pipeline: the layouts in LDS are not those of wgmma and of bulk copies");
  static_assert(b_major == operand_major::k || tile.result_n() % tile_k == 0 || tile.products == 1,
                "warp_specialized_pipeline: columns of each of two products must be a multiple of 64 where B is "
                "contiguous along n");
  static_assert(num_stages >= 2 && lds.bytes() <= arch::sm90::value.lds_bytes,
                "warp_specialized_pipeline: the block tile needs more LDS than the GPU has; use a smaller one");
  static_assert(lds.stage_bytes() % 1024 == 0 && 8 * lds.num_barriers() <= detail::specialized_lds::barrier_bytes);

  /// Sums of the block tile.
  using sums_type = static_distributed_tensor<float, c_distribution<tiles>>;
  /// A wave's rows of a box, and who addresses them when they are written.
  static constexpr arch::lane_map result = arch::describe(tiles.op).c;
  static constexpr distribution_encoding box = detail::wave_tile_encoding(tile.store_n() / 16, result);
  static constexpr distribution_encoding box_addresses = detail::wave_tile_encoding(
      tile.store_n() / 16, tile.swap_ab ? arch::address_map(arch::exchange_of(arch::lds_op::ldmatrix), result)
                                        : detail::ldmatrix_address_map(result));
  TILEWRIGHT_HD static constexpr auto box_descriptor() {
    return tensor_descriptor<number<detail::operand_graph(lds.box_layout(), tile.swap_ab)>::value>{
        {}, lds.box_layout().tile.rows * lds.box_layout().tile.cols};
  }
};

}  // namespace tilewright
