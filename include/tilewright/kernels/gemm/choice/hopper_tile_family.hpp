// SPDX-License-Identifier: MIT
// The family of tiles of warp_specialized_pipeline, of which a kernel can be compiled for each, and those of them that
// suit a product.
#pragma once

#include <tilewright/kernels/gemm/choice/grouped_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_facts.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <vector>

namespace tilewright {

namespace detail {

/// Shapes of clusters: blocks above each other, and side by side.
struct cluster_shape {
  index_t m, n;
};
inline constexpr cluster_shape cluster_shapes[] = {{1, 1}, {2, 1}, {1, 2}, {4, 1}, {1, 4}, {2, 2}, {4, 2}, {2, 4}};

/// Rows of a tile and the warpgroups that compute them.
struct tile_rows {
  index_t m, consumers;
  bool ping_pong;
};
inline constexpr tile_rows rows_of_tiles[] = {{64, 1, false}, {128, 2, false}, {256, 2, false}, {128, 1, false},
                                              {64, 2, true},  {128, 2, true},  {192, 2, true},  {256, 2, true}};

/// Whether `step` columns less would do for as many tiles; or rows or clusters would be half empty.
constexpr bool is_wasteful(const hopper_gemm_tile& t, const gemm_args& g, index_t step) {
  const auto tiles_of = [&](index_t n) { return ceil_div(g.n, n * t.cluster_n); };
  return (t.n > step && tiles_of(t.n) == tiles_of(t.n - step)) || (t.m > 64 && g.m <= t.m / 2) ||
         (t.cluster_m > 1 && g.m <= t.m * (t.cluster_m - 1)) || (t.cluster_n > 1 && g.n <= t.n * (t.cluster_n - 1));
}

}  // namespace detail

/// Calls consider(tile) for each tile for plain products with aligned rows: m of 64 to 256, n any multiple of 8 up to
/// 256, clusters of up to 8 blocks, both orders of A and B, consumers that share a tile or alternate (ping-pong).
template <class Function>
constexpr void for_each_tile_of_family(const hopper_gemm_operands& o, Function consider) {
  for (const detail::tile_rows& rows : detail::rows_of_tiles)
    for (index_t n = 8; n <= 256; n += 8) {
      hopper_gemm_tile t{.m = rows.m, .n = n, .consumers = rows.consumers, .ping_pong = rows.ping_pong};
      hopper_gemm_tile swapped = t;
      swapped.swap_ab = true;
      const bool has_layouts[] = {detail::facts_of(t, o).has_layouts(), detail::facts_of(swapped, o).has_layouts()};
      for (const detail::cluster_shape& cluster : detail::cluster_shapes)
        for (const bool swap_ab : {false, true}) {
          t.cluster_m = cluster.m, t.cluster_n = cluster.n, t.swap_ab = swap_ab;
          if (has_layouts[swap_ab] && detail::facts_of(t, o).fits_in_lds()) consider(t);
        }
    }
}

namespace detail {

/// The family as a list, made once for each kind of operands.
inline const std::vector<hopper_gemm_tile>& tiles_of_family(const hopper_gemm_operands& o) {
  static std::mutex mutex;
  static std::map<std::array<index_t, 4>, std::vector<hopper_gemm_tile>> lists;
  const std::lock_guard lock(mutex);
  std::vector<hopper_gemm_tile>& list = lists[{o.element_bytes(), o.result_bytes(), o.a_along_k, o.b_along_k}];
  if (list.empty()) for_each_tile_of_family(o, [&](const hopper_gemm_tile& t) { list.push_back(t); });
  return list;
}

}  // namespace detail

/// The choices of the family for a product that are predicted to take at most `within` times as long as the best, by
/// predicted time. `products` of 2: args.n and the tiles' n count the columns of both products of a policy.
inline std::vector<hopper_gemm_choice> rank_tiles_of_family(const gemm_args& args, const hopper_gemm_operands& o,
                                                            index_t SMs, index_t max_split_k, double within = 1.3,
                                                            index_t products = 1) {
  const auto has_kernel = [&](hopper_gemm_tile t) {
    t.products = products;
    return products == 1 || detail::facts_of(t, o).fits();
  };
  const gemm_operand_types types{o.element_bytes(), o.a_along_k, o.b_along_k};
  const index_t step = products == 1 ? 8 : o.b_along_k ? 64 : 128;  // from a tile's n to the next
  std::vector<hopper_gemm_choice> all;
  double least = 1e300;
  // So that most tiles need no prediction.
  for_each_hopper_kernel(args, types, SMs, args.workspace ? max_split_k : 1, [&](const hopper_gemm_choice& c) {
    if (!c.tile.unaligned && has_kernel(c.tile) && (c.split_k == 1 || args.workspace))
      least = std::min(least, c.clocks);
  });
  const gemm_args swapped = detail::in_order_of({.swap_ab = true}, args);
  for (const hopper_gemm_tile& t : detail::tiles_of_family(o)) {
    const gemm_args& g = t.swap_ab ? swapped : args;
    if (detail::is_wasteful(t, g, step) || !has_kernel(t)) continue;
    for_each_split(
        args, t, types, SMs, args.workspace ? max_split_k : 1,
        [&](const hopper_gemm_choice& c) {
          if ((c.split_k != 1 && !args.workspace) || c.clocks > within * least) return;
          least = std::min(least, c.clocks);
          all.push_back(c);
        },
        within * least);
  }
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.clocks < y.clocks; });
  all.erase(std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.clocks > within * least; }), all.end());
  return all;
}

/// A kernel for groups, or with block scales, beyond its operands.
struct grouped_kernel_kind {
  index_t products = 1;          ///< 2: of expert_gate_up
  bool gathers_a = false;        ///< rows of A are where expert_args::source says
  bool is_block_scaled = false;  ///< A and B have scales

  /// Whether there is code for the tile.
  constexpr bool takes(const hopper_gemm_tile& t) const {
    if (products > 1 && (t.ping_pong || !t.is_sound() || t.result_n() % 64 != 0)) return false;
    if (gathers_a && (t.swap_ab || t.ping_pong || t.consumers != 2 || t.m != 128 || t.cluster_n > 1 || t.cluster_m > 2))
      return false;
    // Block-scaled, a consumer's accumulators and the products of two slices take (n + 2 slice) / 2 registers of each
    // thread. Beyond 192 the kernels for groups spill: 240 columns, 572 bytes, ran at half the rate of 256, 196 bytes.
    return !is_block_scaled || (!t.swap_ab && !t.ping_pong && t.repeat_m() == 1 && t.n % 16 == 0 &&
                                t.n + 2 * detail::scaled_slice(t.n) <= 384);
  }
  /// What the host must know of the kernel with this tile.
  constexpr detail::hopper_gemm_facts facts_of(hopper_gemm_tile t, const hopper_gemm_operands& o) const {
    t.products = products;
    detail::hopper_gemm_lds lds = detail::lds_of(t, o, is_block_scaled ? detail::scale_bytes_of(t) : 0);
    lds.work_bytes = detail::work_ring_bytes;
    return {lds, o, false};
  }
};

/// The tile of the family with the shortest predicted time for a product whose groups divide rows, or that is dense.
inline hopper_gemm_tile choose_grouped_tile(const grouped_args& g, const hopper_gemm_operands& o, index_t SMs,
                                            const grouped_kernel_kind& kind) {
  const gemm_operand_types types{o.element_bytes(), o.a_along_k, o.b_along_k, kind.is_block_scaled};
  grouped_args columns = g;  // of all products
  columns.n *= kind.products;
  hopper_gemm_tile best;
  double least = 1e300;
  for (hopper_gemm_tile t : detail::tiles_of_family(o)) {
    t.products = kind.products;
    if (!kind.takes(t) || !kind.facts_of(t, o).fits()) continue;
    hopper_gemm_tile as_one = t;
    as_one.products = 1;
    const double clocks = predict_grouped_clocks(columns, as_one, types, SMs);
    if (clocks < least) least = clocks, best = t;
  }
  return best;
}

}  // namespace tilewright
