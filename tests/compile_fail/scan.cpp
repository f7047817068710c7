// SPDX-License-Identifier: MIT
// Scans of tiles.
#include <tilewright/tile/registers/scan.hpp>

#include "sample_tile.hpp"

// Elements of two bytes.
// EXPECT: scan: lanes exchange values of 4 bytes; cast_tile the tile to float or int first
void scan_type(tw::static_distributed_tensor<tw::half_t, distribution>& tile) { (void)tw::scan<0>(tile, tw::plus); }

// A carry with the columns in place of the rows.
// EXPECT: scan: the carry must be a tile of reduced_distribution<distribution of the tile, dimension>
void scan_carry(tw::static_distributed_tensor<float, distribution>& tile) {
  tw::static_distributed_tensor<float, tw::reduced_distribution<distribution, 0>> carry{};
  tw::scan<1>(tile, tw::plus, carry);
}

// Two waves share each row, and lanes are more significant than they are.
// EXPECT: scan: waves share the elements that are combined; pass scan_lds_bytes<Tile, dimension> bytes of LDS
// EXPECT: scan: along the dimension, one factor at most may belong to waves, and none of lanes may be more significant
using lanes_first = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<64, 2>>, tuple<sequence<2>, sequence<2>>,
                                   tuple<sequence<1>, sequence<0>>, sequence<1>, sequence<0>>::value>;
void scan_waves(tw::static_distributed_tensor<float, lanes_first>& tile, tw::exec::lds_pointer lds) {
  (void)tw::scan<1>(tile, tw::plus);
  (void)tw::scan<1>(tile, tw::plus, lds);
}
