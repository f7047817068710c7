// SPDX-License-Identifier: MIT
// What a GEMM kernel's accesses to LDS cost, known before it runs.
#pragma once

#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/lds/lds_access.hpp>

namespace tilewright {

/// The accesses to LDS that a block makes: the first four for each tile along k, the last two for each chunk of rows of C.
struct gemm_lds_prediction {
  lds_access_analysis a_write, b_write, a_read, b_read, c_write, c_read;

  /// f(access, how often) for a launch with so many tiles along k and chunks of C, counted in all blocks.
  template <class F>
  constexpr void for_each(long_index_t num_k_tiles, long_index_t num_chunks, F f) const {
    for (const lds_access_analysis* access : {&a_write, &b_write, &a_read, &b_read}) f(*access, num_k_tiles);
    for (const lds_access_analysis* access : {&c_write, &c_read}) f(*access, num_chunks);
  }
};

template <class Policy>
constexpr gemm_lds_prediction predict_lds() {
  using Arch = typename Policy::arch;
  constexpr block_tile tile = Policy::tile;
  constexpr index_t bytes = sizeof(typename Policy::element_type);
  using stage = result_stage<Policy>;
  constexpr tensor_descriptor<Policy::a_lds> a{{}, tile.m * tile.k};
  constexpr tensor_descriptor<Policy::b_lds> b{{}, tile.n * tile.k};
  constexpr auto c = make_lds_descriptor<stage::layout.layout>();
  const auto read = fragment_access(tile.op);
  return {analyze_lds_access<Arch>(a, tile_distribution<Policy::a_copy>{}, bytes, lds_access_kind::write),
          analyze_lds_access<Arch>(b, tile_distribution<Policy::b_copy>{}, bytes, lds_access_kind::write),
          analyze_lds_access<Arch>(a, tile_distribution<Policy::a_read>{}, bytes, read),
          analyze_lds_access<Arch>(b, tile_distribution<Policy::b_read>{}, bytes, read),
          analyze_lds_access<Arch>(c, tile_distribution<stage::sums>{}, 4, lds_access_kind::write),
          analyze_lds_access<Arch>(c, tile_distribution<stage::rows>{}, 4, lds_access_kind::read)};
}

/// Blocks of a launch times tiles along k, and times chunks of C.
template <class Policy>
constexpr long_index_t num_block_k_tiles(const gemm_args& args) {
  const grid_size grid = gemm_kernel<Policy>::grid(args);
  return long_index_t(grid.x) * grid.y * grid.z * split_k_into_tiles(args.k, Policy::tile.k).count;
}
template <class Policy>
constexpr long_index_t num_block_chunks(const gemm_args& args) {
  const grid_size grid = gemm_kernel<Policy>::grid(args);
  return long_index_t(grid.x) * grid.y * grid.z * result_stage<Policy>::num_chunks;
}

}  // namespace tilewright
