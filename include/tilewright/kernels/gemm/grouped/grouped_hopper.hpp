// SPDX-License-Identifier: MIT
// Grouped GEMM on Hopper: tiles of groups as the work tiles of warp_specialized_pipeline.
#pragma once

#include <tilewright/kernels/gemm/grouped/detail/gathered_producer.hpp>
#include <tilewright/kernels/gemm/grouped/detail/paired_pipeline.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>

namespace tilewright {

namespace detail {

/// The kernel's argument. Rows of A, or of A and B along k, and rows of C end where their group does.
template <class Args, group_kind Kind, index_t Products = 1>
struct grouped_device_args : scale_plan<Args> {
  using ragged = exec::ragged_tensor_map;
  using operand_map = conditional_t<Kind == group_kind::k, ragged, exec::tensor_map>;
  operand_map a, b[Products];
  using result_map = conditional_t<Kind == group_kind::rows, ragged, exec::tensor_map>;
  result_map c, narrow_c;  // narrow_c: as in hopper_gemm_device_args
  Args args;
  group_tiles tiles;  // of clusters
  split_memory memory;
  index_t blocks;
  index_t ordered_k_tiles;  // as in hopper_gemm_device_args
};

/// The schedule of `tiles` tiles, whose number the device alone knows; with at most `max_slots` splits. A last round
/// with few tiles is split along k into a head and main splits, or among all workers if it would leave an eighth of
/// them idle or more.
TILEWRIGHT_HD constexpr stream_k_schedule make_grouped_schedule(index_t tiles, index_t k_tiles, index_t workers,
                                                                index_t max_slots) {
  constexpr index_t fixup_slack = 4;  // k tiles until others see what a block has written
  stream_k_schedule s{{tiles, 1, 1, 1}, k_tiles, workers, tiles, 0, 0};
  const index_t left = modulo(tiles, workers);
  if (left == 0) return s;
  const index_t splits = min(min(divide(workers, left), divide(k_tiles, 8)), 6);
  const bool worth_crossing = k_tiles >= 24 && left * 8 <= workers * 7;
  const index_t split_workers = splits > 1 ? left * splits : worth_crossing ? workers : 0;
  if (split_workers == 0 || split_workers > max_slots || long_index_t(left) * k_tiles * split_workers > 0x7fffffff)
    return s;
  s.whole_tiles = tiles - left, s.split_workers = split_workers, s.fixup_slack = fixup_slack;
  if (splits > 1) s.main_splits = splits - 1, s.head = divide(k_tiles - fixup_slack, splits);
  return s;
}

/// Whether a cluster is two blocks above each other, which lie side by side in a group's last row of blocks if there is
/// no second row: groups need no even number of rows of blocks.
TILEWRIGHT_HD constexpr bool pairs_blocks(const hopper_gemm_tile& t, group_kind kind) {
  return kind == group_kind::rows && t.cluster_m == 2 && t.cluster_n == 1 && !t.swap_ab;
}

/// Rows of a group that one tile of its row_group_iterator counts.
TILEWRIGHT_HD constexpr index_t group_tile_rows(const hopper_gemm_tile& t, group_kind kind) {
  if (pairs_blocks(t, kind)) return t.m;
  return t.swap_ab ? t.n * t.cluster_n : t.m * t.cluster_m;
}

/// A work tile of a group.
template <group_kind Kind>
struct grouped_work_tile : hopper_work_tile {
  index_t end_row = 0;       ///< Of the group.
  index_t side_by_side = 0;  ///< 1: the cluster's blocks share A, not B.

  static constexpr index_t num_members = 18;
  /// Calls visit with each member of a work tile.
  template <class Work, class Visit>
  TILEWRIGHT_HD static void for_each_member(Work& w, Visit visit) {
    visit(w.tile.row), visit(w.tile.col), visit(w.tile.batch), visit(w.k_begin), visit(w.k_end), visit(w.split);
    visit(w.splits), visit(w.split_tile), visit(w.slot), visit(w.a_z), visit(w.b_z), visit(w.c_z);
    visit(w.first_row), visit(w.first_k), visit(w.m0), visit(w.n0), visit(w.end_row), visit(w.side_by_side);
  }

  TILEWRIGHT_HD bool has_rows(index_t m) const { return Kind != group_kind::rows || m < end_row; }
  /// The same with swap_ab, where the tile's n counts rows of the group.
  TILEWRIGHT_HD void set_columns_of_group(const group_tile& found) {
    tile = {found.at.col, found.at.row, found.at.batch};
    end_row = 0x7fffffff;  // A is B of the group
    a_z = tile.batch, b_z = 0, c_z = found.rows.end;
  }
  TILEWRIGHT_HD void set_group(const group_tile& found) {
    constexpr bool by_rows = Kind == group_kind::rows;
    const group_rows rows = found.rows;
    tile = found.at;
    end_row = rows.end;
    side_by_side = found.side_by_side;
    a_z = by_rows ? 0 : rows.end, b_z = by_rows ? tile.batch : rows.end, c_z = by_rows ? rows.end : tile.batch;
    first_k = by_rows ? 0 : rows.begin, first_row = by_rows ? rows.begin : 0;
  }
};

/// LDS for a ring of work tiles: their slots and barriers.
inline constexpr index_t work_ring_slots = 4, work_ring_bytes = work_ring_slots * (80 + 16);

/// Work tiles of groups: the first warp of role load finds them, all its lanes together, and the others read them in
/// LDS. So consumers keep registers for accumulators.
template <class Block>
class grouped_scheduler;
#if TILEWRIGHT_HOPPER_PASS
template <class Block>
class grouped_scheduler {
  static constexpr hopper_gemm_tile tile = Block::tile;
  using work_type = typename Block::work_type;
  using device_args = typename Block::device_args;
  using ring_pipeline = mbarrier_pipeline<work_ring_slots>;
  using words = array<index_t, 20>;  // members of a work tile; the last one: whether there is one
  static_assert(work_type::num_members * sizeof(index_t) == sizeof(work_type) &&
                sizeof(words) * work_ring_slots + ring_pipeline::bytes == work_ring_bytes);

  static constexpr bool pairs = pairs_blocks(tile, Block::groups);
  role_place place_;
  ring_pipeline ring_ = ring_of(place_.lds);
  typename ring_pipeline::state at_ = {};
  // Of the first warp.
  index_t clusters_, u_;
  group_iterator<Block::groups, 32, group_tile_rows(tile, Block::groups), pairs> groups_;
  stream_k_schedule schedule_{};

 public:
  static constexpr bool is_collective = true;

  /// What says how long groups are may be written by the previous kernel.
  TILEWRIGHT_HD grouped_scheduler(const device_args& args, const role_place& place)
      : place_(place),
        clusters_(exec::num_blocks() / tile.cluster()),
        u_(exec::block_id().x / tile.cluster()),
        groups_(after_previous_kernel(args, place.leads).args, args.tiles, place.leads) {
    if constexpr (Block::groups == group_kind::rows) {
      if (place.leads)
        schedule_ = make_grouped_schedule(groups_.num_tiles(), ceil_div(args.args.k, Block::tile_k), clusters_,
                                          args.memory.max_slots);
    }
  }
  TILEWRIGHT_HD static void init(exec::lds_pointer lds) {
    using roles = typename Block::roles;
    ring_of(lds).init(1, roles::producer::warps - 1 + 2 + roles::assistant::is_present + tile.consumers * 4);
  }

  TILEWRIGHT_HD bool next(work_type& work) {
    if (!place_.leads) return read(work);
    const bool found = find(work);
    publish(work, found);
    return found;
  }

 private:
  TILEWRIGHT_HD bool find(work_type& work) {
    group_tile found{};
    if constexpr (Block::groups == group_kind::rows) {
      if (u_ >= schedule_.num_work_tiles()) return false;
      static_cast<work_tile&>(work) = schedule_.split_of(u_);
      groups_.find(schedule_.tile_of(u_, work), found);
    } else {
      if (!groups_.find(u_, found)) return false;
      work.k_end = ceil_div(max(1, found.rows.count()), Block::tile_k);  // without k one tile of zeros is multiplied
    }
    if constexpr (tile.swap_ab)
      work.set_columns_of_group(found);
    else
      work.set_group(found);
    locate_block<tile>(work, place_.rank);
    if constexpr (tile.swap_ab) work.n0 += found.rows.begin;
    if (pairs && work.side_by_side) {
      work.m0 -= place_.rank * tile.m;
      work.n0 = (work.tile.col * 2 + place_.rank) * tile.result_n();
    }
    u_ += clusters_;
    return true;
  }

  TILEWRIGHT_HD static ring_pipeline ring_of(exec::lds_pointer lds) {
    return {exec::lds_address(lds) + unsigned(Block::regions.works + work_ring_slots * index_t(sizeof(words)))};
  }
  TILEWRIGHT_HD exec::lds_pointer slot() const {
    return place_.lds + (Block::regions.works + at_.stage * index_t(sizeof(words)));
  }
  TILEWRIGHT_HD void publish(const work_type& work, bool found) {
    if (exec::lane_id() == 0) {
      words w{};
      index_t n = 0;
      work_type::for_each_member(work, [&](index_t x) TILEWRIGHT_INLINE_LAMBDA { w[n++] = x; });
      w[19] = found;
      ring_.producer_acquire(at_);
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < w.size(); i += 4)
        exec::lds_store(slot(), i * 4, array<index_t, 4>{{w[i], w[i + 1], w[i + 2], w[i + 3]}});
      ring_.producer_commit(at_);
    }
    exec::wave_sync();
    at_.advance();
  }
  /// All lanes get the same words, and know it: else the compiler would keep stages and descriptors in registers of
  /// each lane, from where they would move to uniform ones before each MMA.
  TILEWRIGHT_HD bool read(work_type& work) {
    words w;
    ring_.full(at_.stage).wait_together(at_.phase);
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < w.size(); i += 4) {
      const auto four = exec::lds_load<array<index_t, 4>>(slot(), i * 4);
      for (index_t j = 0; j < 4; ++j) w[i + j] = four[j];
    }
    exec::wave_sync();
    ring_.empty(at_.stage).arrive_if(exec::lane_id() == 31);  // racecheck takes the last lane for all that read
    at_.advance();
    index_t n = 0;
    work_type::for_each_member(work, [&](index_t& x) TILEWRIGHT_INLINE_LAMBDA { x = exec::shuffle(w[n++], 0); });
    return exec::shuffle(w[19], 0) != 0;
  }

  TILEWRIGHT_HD static const device_args& after_previous_kernel(const device_args& args, bool waits) {
    if (waits) exec::grid_dependency_wait();
    return args;
  }
};
#endif

/// A block with room for a ring of work tiles.
template <class Base>
struct with_work_ring : Base {
  static constexpr hopper_gemm_lds add_ring(hopper_gemm_lds of_base) {
    of_base.work_bytes = work_ring_bytes;
    return of_base;
  }
  static constexpr hopper_gemm_lds lds = add_ring(Base::lds);
  static constexpr hopper_gemm_lds::regions regions = lds.plan();
  static constexpr index_t num_stages = lds.num_stages();
  static constexpr hopper_gemm_facts facts{lds, Base::operands, false};
  static_assert(num_stages >= 2 && regions.bytes <= arch::sm90::value.lds_bytes,
                "grouped_gemm_kernel: the block tile needs more LDS than the GPU has; use a smaller one");
};

template <class Block>
struct gathered_operand_pipeline;
template <class Block>
struct gathered_producer;
template <class Pipeline>
struct paired_pipeline;

/// A hopper_gemm_block whose work tiles are tiles of groups.
template <class Policy>
struct grouped_block : with_work_ring<hopper_gemm_block<Policy>> {
  static constexpr group_kind kind = Policy::groups;
  using device_args = grouped_device_args<typename Policy::args_type, kind, Policy::products>;
  using work_type = grouped_work_tile<kind>;
  struct roles : hopper_gemm_roles<grouped_block> {
    using base = hopper_gemm_roles<grouped_block>;
    using scheduler = grouped_scheduler<grouped_block>;
    using one_way = conditional_t<Policy::gathers_a, gathered_operand_pipeline<grouped_block>, typename base::pipeline>;
    using pipeline = conditional_t<pairs_blocks(grouped_block::tile, kind), paired_pipeline<one_way>, one_way>;
    using producer = conditional_t<Policy::gathers_a, gathered_producer<grouped_block>, typename base::producer>;
  };
  static_assert(Policy::products == 1 || kind == group_kind::rows,
                "grouped_gemm_kernel: two products need groups of rows");
  static_assert(!grouped_block::tile.swap_ab || (kind == group_kind::rows && !Policy::gathers_a),
                "grouped_gemm_kernel: swap_ab needs groups of rows, which are not gathered");
  static constexpr bool orders_fit = kind == group_kind::rows
                                         ? Policy::a_major == operand_major::k
                                         : Policy::a_major == operand_major::mn && Policy::b_major == operand_major::mn;
  static_assert(
      orders_fit,
      "grouped_gemm_kernel: A must be contiguous along k where groups divide rows; where they divide k, A must "
      "be contiguous along m and B along n");
};

/// Rows and columns of C of a cluster.
constexpr grid_size cluster_of_c(const hopper_gemm_tile& t) {
  const index_t m = t.m * t.cluster_m, n = t.result_n() * t.cluster_n;
  return t.swap_ab ? grid_size{n, m, 1} : grid_size{m, n, 1};
}

/// check_groups() for a kernel for Hopper.
constexpr const char* check_groups(const hopper_gemm_facts& kernel, group_kind kind, const grouped_args& g) {
  hopper_gemm_tile alone = kernel.tile();
  alone.cluster_m = alone.cluster_n = 1;
  const grid_size c = cluster_of_c(alone);
  return check_groups(g, kind == group_kind::rows, c.x, c.y);
}

/// Makes the maps of A, B and C. gathers_a: A needs none.
template <group_kind Kind, index_t Products, class Args, class MakeTensorMap>
void map_groups(grouped_device_args<Args, Kind, Products>& d, const hopper_gemm_facts& kernel, bool gathers_a,
                const Args& g, const MakeTensorMap& make_tensor_map) {
  const hopper_gemm_tile& tile = kernel.tile();
  const hopper_gemm_maps<MakeTensorMap> maps{kernel, make_tensor_map};
  tma_matrices c{g.c, g.m, g.n, g.ldc, g.groups, g.batch_stride_c};
  if constexpr (Kind == group_kind::rows) {
    const tma_matrices a{.data = g.a, .rows = g.m, .cols = g.k, .ld = g.lda};
    const auto b = [&](index_t product) {
      const auto* const data = static_cast<const char*>(g.b) +
                               (product > 0 ? product * g.product_stride_b * kernel.operands.element_bytes() : 0);
      return operand_in_memory(data, kernel.operands.b_along_k, g.n, g.k, g.ldb, g.groups, g.batch_stride_b);
    };
    if (!gathers_a) maps.a(d.a, tile.swap_ab ? b(0) : a);
    for (index_t i = 0; i < Products; ++i) maps.b(d.b[i], tile.swap_ab ? a : b(i));
    c.batch = 1, c.ragged = true;  // one by one: nvcc 13 loses members of an assigned list with designators
  } else {
    maps.a(d.a, {.data = g.a, .rows = g.k, .cols = g.m, .ld = g.lda, .ragged = true});
    maps.b(d.b[0], {.data = g.b, .rows = g.k, .cols = g.n, .ld = g.ldb, .ragged = true});
  }
  maps.c(d.c, c);
  if (tile.has_narrow_box()) maps.c(d.narrow_c, c, tile.last_box_n());
}

/// Prepares a launch of a kernel for groups on a machine that runs `resident` clusters at the same time.
template <group_kind Kind, index_t Products, class Args, class MakeTensorMap>
grouped_device_args<Args, Kind, Products> plan_grouped(const hopper_gemm_facts& kernel, bool gathers_a, const Args& g,
                                                       index_t resident, const MakeTensorMap& make_tensor_map) {
  constexpr bool by_rows = Kind == group_kind::rows;
  const hopper_gemm_tile& tile = kernel.tile();
  grouped_device_args<Args, Kind, Products> d{};
  d.args = g;
  d.ordered_k_tiles = kernel.lds.scale_bytes > 0 || (by_rows && g.k <= 5 * kernel.lds.a.k()) ? 2 : 4;
  const grid_size c = cluster_of_c(tile);
  d.tiles = {ceil_div(g.n, c.y), tile.swap_ab ? 1 : hopper_tile_order(g, tile, resident).group};
  const long_index_t most_tiles = grouped_tile_limit(g, by_rows, c.x, c.y);
  if (by_rows) d.memory = {g, tile, resident};
  d.blocks = index_t(most_tiles < resident && d.memory.max_slots == 0 ? most_tiles : resident) * tile.cluster();
  map_groups(d, kernel, gathers_a, g, make_tensor_map);
  if constexpr (requires { d.a_scales; }) plan_scales(d, g, tile.m, make_tensor_map);
  return d;
}

}  // namespace detail

/// The grouped_gemm_kernel of a policy of warp_specialized_pipeline.
template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct grouped_gemm_kernel<Policy> : detail::hopper_gemm_launch<Policy, detail::grouped_block<Policy>> {
  using base = detail::hopper_gemm_launch<Policy, detail::grouped_block<Policy>>;
  using args_type = typename base::args_type;

  static constexpr const char* check(const args_type& args) {
    if constexpr (Policy::gathers_a) {
      if (const char* why = check_gathered(args, 1, 1ll << 62)) return why;
    }
    const char* const why = check_gemm<Policy>(args, base::alignment);
    return base::or_operands(why ? why : detail::check_groups(base::block::facts, Policy::groups, args), args);
  }
  static typename base::device_args prepare(const args_type& args, const launch_facts& facts) {
    return detail::plan_grouped<Policy::groups, Policy::products>(base::block::facts, Policy::gathers_a, args,
                                                                  facts.resident_clusters, facts.make_tensor_map);
  }
};

}  // namespace tilewright
