// SPDX-License-Identifier: MIT
// Grouped products on Hopper: tiles of groups as the units of warp_specialized_pipeline.
#pragma once

#include <tilewright/gemm/grouped_gemm.hpp>
#include <tilewright/gemm/warp_specialized_pipeline.hpp>

namespace tilewright {

namespace detail {

/// What crosses to the device. Rows of A, or of A and B along k, and rows of C end where their group does.
template <class Args, group_kind Kind>
struct grouped_device_args {
  using ragged = exec::ragged_tensor_map;
  using operand_map = conditional_t<Kind == group_kind::k, ragged, exec::tensor_map>;
  operand_map a, b[1];
  conditional_t<Kind == group_kind::rows, ragged, exec::tensor_map> c;
  Args args;
  group_tiles tiles;  // of clusters
  index_t blocks;
};

/// A tile, as a unit of work that is never split.
template <group_kind Kind>
struct grouped_unit {
  tile_position tile;
  group_rows rows;
  index_t k_begin, k_end;  // in tiles along k
  static constexpr bool by_rows = Kind == group_kind::rows;

  TILEWRIGHT_HD bool is_last_part() const { return true; }
  TILEWRIGHT_HD index_t a_z() const { return by_rows ? 0 : rows.end; }
  TILEWRIGHT_HD index_t b_z() const { return by_rows ? tile.batch : rows.end; }
  TILEWRIGHT_HD index_t c_z() const { return by_rows ? rows.end : tile.batch; }
  TILEWRIGHT_HD index_t first_k() const { return by_rows ? 0 : rows.begin; }
  TILEWRIGHT_HD index_t first_row() const { return by_rows ? rows.begin : 0; }
  TILEWRIGHT_HD bool has_rows(index_t m) const { return !by_rows || m < rows.end; }
};

/// A specialized_block whose units are tiles of groups.
template <class Policy>
struct grouped_block : specialized_block<Policy> {
  static constexpr group_kind kind = Policy::groups;
  using device_args = grouped_device_args<typename Policy::args_type, kind>;
  using unit_type = grouped_unit<kind>;
  static_assert(Policy::products == 1, "grouped_gemm_kernel: there is one product for each group");
  static constexpr bool orders_fit = kind == group_kind::rows
                                         ? Policy::a_major == operand_major::k
                                         : Policy::a_major == operand_major::mn && Policy::b_major == operand_major::mn;
  static_assert(
      orders_fit,
      "grouped_gemm_kernel: A must be contiguous along k where groups divide rows; where they divide k, A must "
      "be contiguous along m and B along n");

  class walk_type {
    const device_args& args_;
    group_walk<kind, 32> walk_;

   public:
    TILEWRIGHT_HD explicit walk_type(const device_args& args) : args_(args), walk_(args.args, args.tiles) {}

    TILEWRIGHT_HD bool find(index_t u, unit_type& unit) {
      group_tile found;
      if (!walk_.find(u, found)) return false;
      // Without k one tile of zeros is multiplied.
      const index_t k = kind == group_kind::rows ? args_.args.k : max(1, found.rows.count());
      unit = {found.at, found.rows, 0, ceil_div(k, specialized_block<Policy>::tile_k)};
      return true;
    }
  };
};

/// Prepares a launch on a machine that runs `resident` clusters at the same time.
template <class Policy, class MakeTensorMap>
auto plan_grouped(const typename Policy::args_type& g, index_t resident, MakeTensorMap make_tensor_map) {
  using T = typename Policy::element_type;
  using block = grouped_block<Policy>;
  constexpr specialized_tile tile = block::tile;
  constexpr bool by_rows = Policy::groups == group_kind::rows, b_along_k = Policy::b_major == operand_major::k;
  constexpr index_t k = block::tile_k;
  typename block::device_args d{};
  d.args = g;
  const index_t rows = tile.m * tile.share_b, cols = tile.result_n() * tile.share_a;
  d.tiles = {rows, ceil_div(g.n, cols), specialized_order(g, tile, resident).group};
  const long_index_t most_tiles = grouped_tile_limit(g, by_rows, rows, cols);
  d.blocks = index_t(most_tiles < resident ? most_tiles : resident) * tile.cluster();
  const auto map = [&]<class E>(exec::tensor_map& to, const E* data, extent lengths, index_t ld, index_t batch,
                                long_index_t stride, extent box, bool ragged) {
    exec::tensor_map_request request = request_map<E>(data, lengths, ld, batch, stride, box);
    request.ragged = ragged;
    make_tensor_map(to, request);
  };
  const T *const a = static_cast<const T*>(g.a), *const b = static_cast<const T*>(g.b);
  if constexpr (by_rows) {
    map(d.a, a, {g.k, g.m}, g.lda, 1, 0, {k, tile.m / tile.share_a}, false);
    map(d.b[0], b, {b_along_k ? g.k : g.n, b_along_k ? g.n : g.k}, g.ldb, g.groups, g.batch_stride_b,
        {k, b_along_k ? tile.result_n() / tile.share_b : k}, false);
  } else {
    map(d.a, a, {g.m, g.k}, g.lda, 1, 0, {k, k}, true);
    map(d.b[0], b, {g.n, g.k}, g.ldb, 1, 0, {k, k}, true);
  }
  map(d.c, static_cast<const typename Policy::result_type*>(g.c), {g.n, g.m}, g.ldc, by_rows ? 1 : g.groups,
      g.batch_stride_c, {tile.store_n(), 64}, by_rows);
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
