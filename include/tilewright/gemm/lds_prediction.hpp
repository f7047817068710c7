// SPDX-License-Identifier: MIT
// What a GEMM kernel's accesses to LDS cost, known before it runs.
#pragma once

#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/lds/lds_access.hpp>

namespace tilewright {

/// The four accesses to LDS that a block makes for each tile along k.
struct gemm_lds_prediction {
  lds_access_analysis a_write, b_write, a_read, b_read;
};

template <class Policy>
constexpr gemm_lds_prediction predict_lds() {
  using Arch = typename Policy::arch;
  constexpr block_tile tile = Policy::tile;
  constexpr index_t bytes = sizeof(typename Policy::element_type);
  constexpr tensor_descriptor<Policy::a_lds> a{{}, tile.m * tile.k};
  constexpr tensor_descriptor<Policy::b_lds> b{{}, tile.n * tile.k};
  const auto read = fragment_access(tile.op);
  return {analyze_lds_access<Arch>(a, tile_distribution<Policy::a_copy>{}, bytes, lds_access_kind::write),
          analyze_lds_access<Arch>(b, tile_distribution<Policy::b_copy>{}, bytes, lds_access_kind::write),
          analyze_lds_access<Arch>(a, tile_distribution<Policy::a_read>{}, bytes, read),
          analyze_lds_access<Arch>(b, tile_distribution<Policy::b_read>{}, bytes, read)};
}

/// How often a launch makes these accesses: blocks times tiles along k.
template <class Policy>
constexpr long_index_t num_block_k_tiles(const gemm_args& args) {
  const grid_size grid = gemm_kernel<Policy>::grid(args);
  return long_index_t(grid.x) * grid.y * grid.z * split_k_into_tiles(args.k, Policy::tile.k).count;
}

}  // namespace tilewright
