// SPDX-License-Identifier: MIT
// A kernel that copies a matrix through LDS, tile by tile: written by rows, read by columns of 16-byte chunks.
#pragma once

#include <tilewright/tilewright.hpp>

namespace tile_copy_example {

namespace tw = tilewright;
using tw::half_t, tw::index_t, tw::number, tw::sequence, tw::tuple;

inline constexpr number<64> rows, cols;  // of a tile
inline constexpr index_t block_size = 256;
inline constexpr index_t lds_bytes = rows * cols * index_t(sizeof(half_t));

// Functions, because nvcc's device code cannot refer to static members.
struct plain_rows {
  TILEWRIGHT_HD static constexpr auto descriptor() {
    return tw::make_naive_tensor_descriptor_packed(tw::make_tuple(rows, cols));
  }
};
struct swizzled_rows {
  TILEWRIGHT_HD static constexpr auto descriptor() {
    return tw::make_lds_index_swapping_descriptor<cols, 8, 1, rows, half_t>();
  }
};

/// Vectors of 16 bytes along the rows: eight lanes share a row of the tile.
template <index_t WaveSize>
using by_rows = decltype(tw::make_copy_distribution<rows, cols, half_t, block_size, WaveSize>());
/// Every lane has a row of its own.
template <index_t WaveSize>
using by_columns = tw::tile_distribution<tw::tile_distribution_encoding<
    sequence<>, tuple<sequence<rows / WaveSize, WaveSize>, sequence<2, 4, 8>>, tuple<sequence<1, 2>, sequence<1>>,
    tuple<sequence<0, 1>, sequence<1>>, sequence<2, 2>, sequence<0, 2>>::value>;

struct matrices {
  const half_t* from;
  half_t* to;
  index_t height, width;  // the width is a multiple of 8
};

/// Each block copies one tile. What overhangs the matrix is neither read nor written.
template <class Layout, index_t WaveSize>
struct tile_copy {
  using args_type = matrices;
  static constexpr index_t block_size = tile_copy_example::block_size, lds_bytes = tile_copy_example::lds_bytes;
  static constexpr const char* check(const matrices& args) {
    return args.height > 0 && args.width > 0 && args.width % 8 == 0
               ? nullptr
               : "the height must be positive, the width a positive multiple of 8";
  }
  static constexpr tw::exec::block_index grid(const matrices& args) {
    return {tw::ceil_div<index_t>(args.width, cols), tw::ceil_div<index_t>(args.height, rows)};
  }
  TILEWRIGHT_HD void operator()(const matrices& args) const {
    constexpr auto global = tw::address_space_enum::global, lds = tw::address_space_enum::lds;
    const auto tile = tw::make_tuple(rows, cols);
    const auto shape = tw::make_tuple(args.height, args.width);
    const auto strides = tw::make_tuple(args.width, number<1>{});
    const tw::multi_index<2> origin{tw::exec::block_id().y * rows, tw::exec::block_id().x * cols};

    const auto from = tw::make_naive_tensor_view<global>(args.from, shape, strides, number<8>{});
    const auto to = tw::make_naive_tensor_view<global>(args.to, shape, strides, number<8>{});
    const auto between = tw::make_tensor_view<lds, half_t>(tw::exec::lds_allocate<lds_bytes>(), Layout::descriptor());

    const auto in = tw::load_tile(tw::make_tile_window(from, tile, origin, by_rows<WaveSize>{}));
    tw::store_tile(tw::make_tile_window(between, tile, {0, 0}, by_rows<WaveSize>{}), in);
    tw::exec::block_sync();
    const auto out = tw::load_tile(tw::make_tile_window(between, tile, {0, 0}, by_columns<WaveSize>{}));
    tw::store_tile(tw::make_tile_window(to, tile, origin, by_columns<WaveSize>{}), out);
  }
};

}  // namespace tile_copy_example
