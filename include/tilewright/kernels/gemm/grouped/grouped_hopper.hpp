// SPDX-License-Identifier: MIT
// Grouped products on Hopper: tiles of groups as the units of warp_specialized_pipeline.
#pragma once

#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>

namespace tilewright {

namespace detail {

/// What crosses to the device. Rows of A, or of A and B along k, and rows of C end where their group does.
template <class Args, group_kind Kind>
struct grouped_device_args : scale_plan<Args> {
  using ragged = exec::ragged_tensor_map;
  using operand_map = conditional_t<Kind == group_kind::k, ragged, exec::tensor_map>;
  operand_map a, b[1];
  conditional_t<Kind == group_kind::rows, ragged, exec::tensor_map> c;
  Args args;
  group_tiles tiles;  // of clusters
  split_memory memory;
  index_t blocks;
  index_t turn;  // as in hopper_gemm_device_args
};

/// The schedule of `tiles` tiles, whose number the device alone knows; with at most `max_slots` parts of tiles in
/// memory. A last round with few tiles is split along k, and shared by all workers if it would leave less than half of
/// them idle.
TILEWRIGHT_HD constexpr stream_k_schedule make_grouped_schedule(index_t tiles, index_t k_tiles, index_t workers,
                                                                index_t max_slots) {
  constexpr index_t fixup_slack = 4;  // k tiles until others see what a block has written
  stream_k_schedule s{{tiles, 1, 1, 1}, k_tiles, workers, tiles, 0, 0};
  const index_t left = modulo(tiles, workers);
  if (left == 0) return s;
  const index_t parts = min(min(divide(workers, left), divide(k_tiles, 8)), 6);
  const bool worth_crossing = k_tiles >= 24 && left * 8 <= workers * 7;
  const index_t split_workers = parts > 1 ? left * parts : worth_crossing ? workers : 0;
  if (split_workers == 0 || split_workers > max_slots || long_index_t(left) * k_tiles * split_workers > 0x7fffffff)
    return s;
  s.whole_tiles = tiles - left, s.split_workers = split_workers, s.fixup_slack = fixup_slack;
  if (parts > 1) s.mains = parts - 1, s.tail = divide(k_tiles - fixup_slack, parts);
  return s;
}

/// A tile of a group, or a part of it.
template <group_kind Kind>
struct grouped_unit : work_tile {
  group_rows rows;
  static constexpr bool by_rows = Kind == group_kind::rows;

  TILEWRIGHT_HD index_t a_z() const { return by_rows ? 0 : rows.end; }
  TILEWRIGHT_HD index_t b_z() const { return by_rows ? tile.batch : rows.end; }
  TILEWRIGHT_HD index_t c_z() const { return by_rows ? rows.end : tile.batch; }
  TILEWRIGHT_HD index_t first_k() const { return by_rows ? 0 : rows.begin; }
  TILEWRIGHT_HD index_t first_row() const { return by_rows ? rows.begin : 0; }
  TILEWRIGHT_HD bool has_rows(index_t m) const { return !by_rows || m < rows.end; }
};

/// A hopper_gemm_block whose units are tiles of groups.
template <class Policy>
struct grouped_block : hopper_gemm_block<Policy> {
  static constexpr group_kind kind = Policy::groups;
  using device_args = grouped_device_args<typename Policy::args_type, kind>;
  using unit_type = grouped_unit<kind>;
  static_assert(Policy::products == 1, "grouped_gemm_kernel: there is one product for each group");
  static_assert(Policy::tile.n % 32 == 0, "grouped_gemm_kernel: n of the tile must be a multiple of 32");
  static constexpr bool orders_fit = kind == group_kind::rows
                                         ? Policy::a_major == operand_major::k
                                         : Policy::a_major == operand_major::mn && Policy::b_major == operand_major::mn;
  static_assert(
      orders_fit,
      "grouped_gemm_kernel: A must be contiguous along k where groups divide rows; where they divide k, A must "
      "be contiguous along m and B along n");

  class walk_type {
    using dense = hopper_gemm_block<Policy>;
    static constexpr index_t tile_k = dense::tile_k;
    group_walk<kind, 32, dense::tile.m * dense::tile.cluster_m> walk_;
    stream_k_schedule schedule_{};

   public:
    /// For one of `clusters`.
    TILEWRIGHT_HD walk_type(const device_args& args, index_t clusters) : walk_(args.args, args.tiles) {
      if constexpr (kind == group_kind::rows)
        schedule_ =
            make_grouped_schedule(walk_.num_tiles(), ceil_div(args.args.k, tile_k), clusters, args.memory.max_slots);
    }

    TILEWRIGHT_HD bool find(index_t u, unit_type& unit) {
      group_tile found;
      if constexpr (kind == group_kind::rows) {
        if (u >= schedule_.num_work_tiles()) return false;
        static_cast<work_tile&>(unit) = schedule_.split_of(u);
        walk_.find(schedule_.tile_of(u, unit), found);
      } else {
        if (!walk_.find(u, found)) return false;
        unit.k_end = ceil_div(max(1, found.rows.count()), tile_k);  // without k one tile of zeros is multiplied
      }
      unit.tile = found.at;
      unit.rows = found.rows;
      return true;
    }
  };
};

/// Prepares a launch on a machine that runs `resident` clusters at the same time.
template <class Policy, class MakeTensorMap>
auto plan_grouped(const typename Policy::args_type& g, index_t resident, MakeTensorMap make_tensor_map) {
  using T = typename Policy::element_type;
  using block = grouped_block<Policy>;
  constexpr hopper_gemm_tile tile = block::tile;
  constexpr bool by_rows = Policy::groups == group_kind::rows, b_along_k = Policy::b_major == operand_major::k;
  constexpr index_t k = block::tile_k;
  typename block::device_args d{};
  d.args = g;
  d.turn = Policy::is_block_scaled || (by_rows && g.k <= 5 * k) ? 2 : 4;
  const index_t rows = tile.m * tile.cluster_m, cols = tile.result_n() * tile.cluster_n;
  d.tiles = {ceil_div(g.n, cols), hopper_tile_order(g, tile, resident).group};
  const long_index_t most_tiles = grouped_tile_limit(g, by_rows, rows, cols);
  if (by_rows) d.memory = {g, tile, resident};
  d.blocks = index_t(most_tiles < resident && d.memory.max_slots == 0 ? most_tiles : resident) * tile.cluster();
  const auto map = [&]<class E>(exec::tensor_map& to, const E* data, extent lengths, index_t ld, index_t batch,
                                long_index_t stride, extent box, bool ragged) {
    exec::tensor_map_request request = request_map<E>(data, lengths, ld, batch, stride, box);
    request.ragged = ragged;
    make_tensor_map(to, request);
  };
  const T *const a = static_cast<const T*>(g.a), *const b = static_cast<const T*>(g.b);
  if constexpr (by_rows) {
    map(d.a, a, {g.k, g.m}, g.lda, 1, 0, {k, tile.m / tile.cluster_n}, false);
    map(d.b[0], b, {b_along_k ? g.k : g.n, b_along_k ? g.n : g.k}, g.ldb, g.groups, g.batch_stride_b,
        {k, b_along_k ? tile.result_n() / tile.b_loaders() : k}, false);
  } else {
    map(d.a, a, {g.m, g.k}, g.lda, 1, 0, {k, k}, true);
    map(d.b[0], b, {g.n, g.k}, g.ldb, 1, 0, {k, k}, true);
  }
  if constexpr (Policy::is_block_scaled) plan_scales(d, g, tile.m, make_tensor_map);
  map(d.c, static_cast<const typename Policy::result_type*>(g.c), {g.n, g.m}, g.ldc, by_rows ? 1 : g.groups,
      g.batch_stride_c, {tile.box_n(), 64}, by_rows);
  return d;
}

}  // namespace detail

template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct grouped_gemm_kernel<Policy> : detail::persistent_kernel<Policy, detail::grouped_block<Policy>> {
  using base = detail::persistent_kernel<Policy, detail::grouped_block<Policy>>;
  using args_type = typename base::args_type;

  static constexpr const char* check(const args_type& args) {
    return base::or_operands(check_grouped<Policy>(args, base::promise), args);
  }
  static typename base::device_args prepare(const args_type& args, const launch_facts& facts) {
    return detail::plan_grouped<Policy>(args, facts.resident_clusters, facts.make_tensor_map);
  }
};

}  // namespace tilewright
