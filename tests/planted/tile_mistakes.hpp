// SPDX-License-Identifier: MIT
// Mistakes in a kernel of tile windows, which copies a matrix through LDS.
#pragma once

#include "planted.hpp"

#include <tilewright/tilewright.hpp>

namespace tilewright::planted {

enum class slip {
  none,
  no_barrier,
  wave_sync,
  block_barrier,
  one_wave,
  some_leave,
  no_barrier_at_end,
  beyond_lds,
  lds_misaligned,
  half_written,
  base_misaligned,
  view_too_long,
  tiles_overlap,
  one_tile_for_all,
  next_blocks_tile,
};

constexpr number<32> tile_rows, tile_cols;
constexpr index_t tile_bytes = tile_rows * tile_cols * index_t(sizeof(half_t));
using by_rows = decltype(make_copy_distribution<tile_rows, tile_cols, half_t, block_threads, 64>());
/// Each lane has a row of its own.
using by_columns = tile_distribution<
    tile_distribution_encoding<sequence<>, tuple<sequence<32>, sequence<2, 2, 8>>, tuple<sequence<2>, sequence<2, 1>>,
                               tuple<sequence<0>, sequence<1, 0>>, sequence<2>, sequence<2>>::value>;

/// Each block copies 32 columns of a matrix of 64 x 64 halves in the second half of memory to the first half.
inline void copy_tiles(const world& w, slip made) {
  using enum slip;
  constexpr auto tile = make_tuple(tile_rows, tile_cols);
  half_t* const result = reinterpret_cast<half_t*>(w.numbers);
  half_t* const given = result + 4096 + (made == base_misaligned);
  const auto matrix_at = [&](half_t* first) {
    const index_t rows = made == view_too_long ? 1 << 20 : 64;
    return make_naive_tensor_view<address_space_enum::global>(first, make_tuple(rows, 64), make_tuple(64, number<1>{}),
                                                              number<8>{});
  };
  const index_t lds_byte = made == beyond_lds ? lds_bytes - tile_bytes / 2 : made == lds_misaligned ? 8 : 0;
  const auto between = make_tensor_view<address_space_enum::lds, half_t>(
      lds() + lds_byte, make_naive_tensor_descriptor_packed(make_tuple(tile_rows, tile_cols)));
  const index_t block = exec::block_id().x, first_row = made == view_too_long ? 1 << 15 : 0;
  const index_t to_col = made == tiles_overlap      ? block * 24
                         : made == one_tile_for_all ? 0
                         : made == next_blocks_tile ? 32 - block * 32
                                                    : block * 32;
  for (index_t row = first_row; row < first_row + 64; row += 32) {
    const auto in = load_tile(make_tile_window(matrix_at(given), tile, {row, block * 32}, by_rows{}));
    if (made != half_written || exec::wave_id() == 0)
      store_tile(make_tile_window(between, tile, {0, 0}, by_rows{}), in);
    if (made == some_leave && thread() >= 100) return;
    if (made == wave_sync) exec::wave_sync();
    if (made == block_barrier) exec::block_barrier();
    if ((made != no_barrier && made != wave_sync && made != block_barrier && made != one_wave) ||
        (made == one_wave && exec::wave_id() == 0))
      exec::block_sync();
    const auto out = load_tile(make_tile_window(between, tile, {0, 0}, by_columns{}));
    half_t* const to = made == next_blocks_tile ? given : result;
    store_tile(make_tile_window(matrix_at(to), tile, {row, to_col}, by_columns{}), out);
    if (made != no_barrier_at_end) exec::block_sync();
  }
}
template <slip Made>
void copy_tiles(world& w) {
  copy_tiles(w, Made);
}

inline constexpr shape two_blocks{.blocks = 2};
inline const char *const lds_race = "which no thread has written before|with no barrier between",
                         *const memory_race = "nothing orders these blocks";
inline const kernel tile_mistakes[] = {
    {"a tile is loaded from LDS without a barrier", lds_race, copy_tiles<slip::no_barrier>},
    {"a tile is loaded from LDS after wave_sync", lds_race, copy_tiles<slip::wave_sync>},
    {"a tile is loaded from LDS after block_barrier", "call wait_for_lds<0>() before it",
     copy_tiles<slip::block_barrier>},
    {"a tile is overwritten in LDS without a barrier", lds_race, copy_tiles<slip::no_barrier_at_end>},
    {"one wave reaches the barrier between two tiles", lds_race, copy_tiles<slip::one_wave>},
    {"threads leave between store_tile and the barrier", "waits forever at a barrier", copy_tiles<slip::some_leave>},
    {"a tile larger than what LDS has left", "outside of the 8192 bytes", copy_tiles<slip::beyond_lds>},
    {"a tile at a misaligned place in LDS", "is not a multiple of 16", copy_tiles<slip::lds_misaligned>},
    {"one wave leaves its part of a tile unwritten", "which no thread has written before",
     copy_tiles<slip::half_written>},
    {"a view of vectors of 8 whose data begins 2 bytes off", "whose address is not a multiple of 16",
     copy_tiles<slip::base_misaligned>},
    {"a view with more rows than its memory", "outside of launch_config::memory", copy_tiles<slip::view_too_long>},
    {"tiles of neighbouring blocks overlap by 8 columns", memory_race, copy_tiles<slip::tiles_overlap>, gfx942,
     two_blocks},
    {"all blocks store to one tile", memory_race, copy_tiles<slip::one_tile_for_all>, gfx942, two_blocks},
    {"a block stores to the tile that the next one loads", memory_race, copy_tiles<slip::next_blocks_tile>, gfx942,
     two_blocks},
};

}  // namespace tilewright::planted
