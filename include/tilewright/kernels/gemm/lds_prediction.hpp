// SPDX-License-Identifier: MIT
// Predicts the cost of a GEMM kernel's LDS accesses; proves them free of bank conflicts.
#pragma once

#include <tilewright/core/lds/lds_proof.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>

namespace tilewright {

/// How often a launch reads and writes a tile of the operands, and a chunk of rows of C, counted in all blocks.
struct gemm_lds_phases {
  /// How often a block stores a tile of A and B to LDS, reads one, and stages C through LDS.
  long_index_t tile_writes, tile_reads, chunks;
};

/// The accesses to LDS that a block makes: the first four for each tile along k,
/// the last two for each chunk of rows of C.
struct gemm_lds_prediction {
  /// One wave's accesses of each kind: conflicts, cycles.
  lds_access_analysis a_write, b_write, a_read, b_read, c_write, c_read;

  /// f(access, how often) for a launch.
  template <class F>
  constexpr void for_each(const gemm_lds_phases& rounds, F f) const {
    for (const lds_access_analysis* access : {&a_write, &b_write}) f(*access, rounds.tile_writes);
    for (const lds_access_analysis* access : {&a_read, &b_read}) f(*access, rounds.tile_reads);
    for (const lds_access_analysis* access : {&c_write, &c_read}) f(*access, rounds.chunks);
  }
};

/// The cost of each access to LDS of gemm_kernel<Policy>, of one block and one tile (chunk): instructions,
/// clocks, conflicts.
template <class Policy>
constexpr gemm_lds_prediction predict_lds() {
  using Arch = typename Policy::arch;
  constexpr block_tile tile = Policy::tile;
  constexpr index_t bytes = sizeof(typename Policy::element_type);
  using stage = detail::result_stage<typename gemm_kernel<Policy>::writer>;
  constexpr tensor_descriptor<Policy::a_lds> a{{}, tile.m * tile.k};
  constexpr tensor_descriptor<Policy::b_lds> b{{}, tile.n * tile.k};
  constexpr auto c = make_lds_descriptor<stage::layout.layout>();
  const auto a_read = fragment_access(tile.op, Policy::a_transposed),
             b_read = fragment_access(tile.op, Policy::b_transposed);
  gemm_lds_prediction p;  // one by one: clang would try to make a constant of a list, which takes it longer
  p.a_write = analyze_lds_access<Arch>(a, tile_distribution<Policy::a_copy>{}, bytes, lds_access_kind::write);
  p.b_write = analyze_lds_access<Arch>(b, tile_distribution<Policy::b_copy>{}, bytes, lds_access_kind::write);
  p.a_read = analyze_lds_access<Arch>(a, tile_distribution<Policy::a_read>{}, bytes, a_read);
  p.b_read = analyze_lds_access<Arch>(b, tile_distribution<Policy::b_read>{}, bytes, b_read);
  p.c_write = analyze_lds_access<Arch>(c, tile_distribution<stage::accumulators>{}, 4, lds_access_kind::write);
  p.c_read = analyze_lds_access<Arch>(c, tile_distribution<stage::lds_rows>{}, 4, lds_access_kind::read);
  return p;
}

/// For a static_assert in a kernel: true if all these accesses are free of bank conflicts, else the compiler's
/// message names the lanes that conflict.
template <class Policy, proof_basis Basis = proof_basis::all_rows>
TILEWRIGHT_HD constexpr bool require_conflict_free_gemm() {
  using Arch = typename Policy::arch;
  using T = typename Policy::element_type;
  using stage = detail::result_stage<typename gemm_kernel<Policy>::writer>;
  constexpr block_tile tile = Policy::tile;
  constexpr tensor_descriptor<Policy::a_lds> a{{}, tile.m * tile.k};
  constexpr tensor_descriptor<Policy::b_lds> b{{}, tile.n * tile.k};
  constexpr auto c = make_lds_descriptor<stage::layout.layout>();
  constexpr lds_access_kind write = lds_access_kind::write, a_read = fragment_access(tile.op, Policy::a_transposed),
                            b_read = fragment_access(tile.op, Policy::b_transposed);
  return require_conflict_free<Basis, lds_access<Arch, a, tile_distribution<Policy::a_copy>, T, write>,
                               lds_access<Arch, b, tile_distribution<Policy::b_copy>, T, write>,
                               lds_access<Arch, a, tile_distribution<Policy::a_read>, T, a_read>,
                               lds_access<Arch, b, tile_distribution<Policy::b_read>, T, b_read>,
                               lds_access<Arch, c, tile_distribution<stage::accumulators>, float, write>,
                               lds_access<Arch, c, tile_distribution<stage::lds_rows>, float, lds_access_kind::read>>();
}

namespace detail {

/// Tiles along k that a block copies to LDS beyond those that it multiplies: see stage_copies.
template <class Policy>
inline constexpr index_t num_tiles_copied_again = Policy::copies_by_wave ? Policy::pipeline::num_stages - 2 : 0;

}  // namespace detail

/// How often a launch makes these accesses.
template <class Policy>
constexpr gemm_lds_phases num_lds_phases(const gemm_args& args) {
  const grid_size grid = gemm_kernel<Policy>::grid(args);
  const long_index_t tiles = tiles_along_k(args.k, Policy::tile.k).count,
                     blocks = long_index_t(grid.x) * grid.y * grid.z;
  const long_index_t block_tiles = long_index_t(grid.x) * grid.z * tiles;  // parts of k share the tiles
  return {block_tiles + blocks * detail::num_tiles_copied_again<Policy>, block_tiles,
          blocks * detail::result_stage<typename gemm_kernel<Policy>::writer>::num_chunks};
}

}  // namespace tilewright
