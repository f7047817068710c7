// SPDX-License-Identifier: MIT
// The loop over k: while one LDS buffer is computed with, the next tile travels through registers into the other.
#pragma once

#include <tilewright/gemm/gemm_policy.hpp>

namespace tilewright {

/// Tiles along k. The first one is the one that may be partial: it begins before the tensor, so that all others are whole and the
/// loop needs no checks.
struct k_tiles {
  index_t count;
  index_t first_origin;  // <= 0
};

TILEWRIGHT_HD constexpr k_tiles split_k_into_tiles(index_t k, index_t k_per_block) {
  const index_t count = ceil_div(k, k_per_block);
  return {count, k - count * k_per_block};
}

/// Bytes of LDS for one buffer of both operands.
template <class Policy>
TILEWRIGHT_HD constexpr index_t lds_stage_bytes() {
  return (Policy::tile.m + Policy::tile.n) * Policy::tile.k * index_t(sizeof(typename Policy::element_type));
}

/// Adds the product of the operands that the windows slide over to c. Windows are (rows, k) and begin at the first tile.
template <class Policy, class AWindow, class BWindow, class C>
TILEWRIGHT_HD void double_buffered_pipeline(static_distributed_tensor<float, C>& c, AWindow a_window, BWindow b_window, index_t num_tiles,
                                            exec::lds_pointer lds) {
  using T = typename Policy::element_type;
  constexpr block_tile tile = Policy::tile;
  constexpr auto lds_space = address_space_enum::lds;
  constexpr index_t a_bytes = tile.m * tile.k * index_t(sizeof(T));
  constexpr index_t stage_bytes = lds_stage_bytes<Policy>();
  constexpr auto a_lengths = make_tuple(number<tile.m>{}, number<tile.k>{});
  constexpr auto b_lengths = make_tuple(number<tile.n>{}, number<tile.k>{});

  constexpr auto a_layout = make_lds_descriptor<Policy::a_layout.layout>();
  constexpr auto b_layout = make_lds_descriptor<Policy::b_layout.layout>();
  const auto a_lds = make_tensor_view<lds_space, T>(lds, a_layout);
  const auto b_lds = make_tensor_view<lds_space, T>(lds + a_bytes, b_layout);
  const auto a_write = make_tile_window(a_lds, a_lengths, {}, tile_distribution<Policy::a_copy>{});
  const auto b_write = make_tile_window(b_lds, b_lengths, {}, tile_distribution<Policy::b_copy>{});
  const auto a_read = make_tile_window(a_lds, a_lengths, {}, tile_distribution<a_encoding(tile, true)>{});
  const auto b_read = make_tile_window(b_lds, b_lengths, {}, tile_distribution<b_encoding(tile, true)>{});

  const auto compute = [&](index_t stage) TILEWRIGHT_INLINE_LAMBDA {
    const auto a = load_fragments<tile.op, tile_distribution<a_encoding(tile)>>(a_read, stage * stage_bytes);
    const auto b = load_fragments<tile.op, tile_distribution<b_encoding(tile)>>(b_read, stage * stage_bytes);
    block_gemm<tile>(c, a, b);
  };
  // Tile t + 1 is fetched while tile t is computed with.
  const auto step = [&](index_t stage) TILEWRIGHT_INLINE_LAMBDA {
    move_tile_window(a_window, {0, tile.k});
    move_tile_window(b_window, {0, tile.k});
    const auto a_next = load_tile(a_window, known_inside<1>{});
    const auto b_next = load_tile(b_window, known_inside<1>{});
    compute(stage);
    store_tile_with_offset(a_write, a_next, (1 - stage) * stage_bytes);
    store_tile_with_offset(b_write, b_next, (1 - stage) * stage_bytes);
    exec::block_sync();
  };

  store_tile(a_write, load_tile(a_window));
  store_tile(b_write, load_tile(b_window));
  exec::block_sync();
  // In pairs, so that each buffer's addresses are constants.
  const index_t steps = num_tiles - 1, in_pairs = steps & ~1;
  TILEWRIGHT_UNROLL(2)
  for (index_t i = 0; i < in_pairs; ++i) step(i & 1);
  if (steps & 1) step(0);
  compute(steps & 1);
}

}  // namespace tilewright
