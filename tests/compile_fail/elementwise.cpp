// SPDX-License-Identifier: MIT
// Functions of tiles, and values along a dimension.
#include <tilewright/tile/registers/elementwise.hpp>

#include "sample_tile.hpp"

using one_row_for_each_eighth_lane =
    tw::tile_distribution<tw::tile_distribution_encoding<sequence<8>, tuple<sequence<8>>, tuple<sequence<0, 1>>,
                                                         tuple<sequence<0, 0>>, sequence<>, sequence<>>::value>;

// A value for each row, along two dimensions.
// EXPECT: along: name a dimension of the whole tile for each dimension of this one
void along_dimensions(tw::static_distributed_tensor<float, distribution>& tile,
                      const tw::static_distributed_tensor<float, one_row_for_each_eighth_lane>& rows) {
  tw::tile_elementwise_inout([](float& x, float row) { x += row; }, tile, tw::along<0, 1>(rows));
}

// A value for each row, held by other threads than the rows.
// EXPECT: along: threads hold other coordinates of this tile than of the whole one
void along_distribution(tw::static_distributed_tensor<float, distribution>& tile,
                        const tw::static_distributed_tensor<float, one_row_for_each_eighth_lane>& rows) {
  tw::tile_elementwise_inout([](float& x, float row) { x += row; }, tile, tw::along<0>(rows));
}

// A value for each row, along columns.
// EXPECT: along: the tiles differ in length along a dimension that is named
void along_lengths(tw::static_distributed_tensor<float, distribution>& tile,
                   const tw::static_distributed_tensor<float, one_row_for_each_eighth_lane>& rows) {
  tw::tile_elementwise_inout([](float& x, float row) { x += row; }, tile, tw::along<1>(rows));
}

// A function of tiles of two distributions.
// EXPECT: tile_elementwise: the tiles have different distributions; shuffle_tile gives one tile the distribution of another
void elementwise_distributions(const tw::static_distributed_tensor<float, distribution>& a,
                               const tw::static_distributed_tensor<float, by_columns>& b) {
  (void)tw::tile_elementwise_in([](float x, float y) { return x + y; }, a, b);
}
