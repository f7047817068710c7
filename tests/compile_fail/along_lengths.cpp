// SPDX-License-Identifier: MIT
// A value for each row, along columns.
// EXPECT: along: the tiles differ in length along a dimension that is named
#include <tilewright/tile/elementwise.hpp>

#include "sample_tile.hpp"

using one_row_for_each_eighth_lane =
    tw::tile_distribution<tw::tile_distribution_encoding<sequence<8>, tuple<sequence<8>>, tuple<sequence<0, 1>>,
                                                         tuple<sequence<0, 0>>, sequence<>, sequence<>>::value>;

void f(tw::static_distributed_tensor<float, distribution>& tile,
       const tw::static_distributed_tensor<float, one_row_for_each_eighth_lane>& rows) {
  tw::tile_elementwise_inout([](float& x, float row) { x += row; }, tile, tw::along<1>(rows));
}
