// SPDX-License-Identifier: MIT
// The tiles of CK Tile's page on load/store traits, with encodings that give each thread what the page's comments say.
#pragma once

#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright::documented {

/// A tile of (M0 * M1) x (N0 * N1): M0 x N0 threads hold M1 x N1 each.
template <index_t M0, index_t M1, index_t N0, index_t N1>
using tile = decltype(make_static_tile_distribution(
    tile_distribution_encoding<sequence<>, tuple<sequence<M0, M1>, sequence<N0, N1>>, tuple<sequence<1>, sequence<2>>,
                               tuple<sequence<0>, sequence<0>>, sequence<1, 2>, sequence<1, 1>>{}));

using row_major_4x16 = tile<2, 2, 4, 4>;
using column_major_16x4 = tile<4, 4, 2, 2>;
using tile_6x8 = tile<2, 3, 2, 4>;
using simple_8x8 = tile<2, 4, 2, 4>;
using optimized_vector = tile<4, 2, 2, 8>;  // 8 x 16

}  // namespace tilewright::documented
