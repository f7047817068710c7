// SPDX-License-Identifier: MIT
// Encodings of a part of a tile.
#include <tilewright/core/distribution/slice_encoding.hpp>

namespace tw = tilewright;
using tw::sequence;

using copy = tw::tile_distribution_encoding<sequence<>, tw::tuple<sequence<2, 4, 16>, sequence<4, 8>>,
                                            tw::tuple<sequence<1>, sequence<1, 2>>,
                                            tw::tuple<sequence<1>, sequence<2, 0>>, sequence<1, 2>, sequence<0, 1>>;

// The rows of one wave of four.
// EXPECT: slice_distribution_from_x: some threads would hold nothing; cut only factors that a thread holds (Y)
constexpr auto cuts_threads =
    tw::slice_distribution_from_x(tw::make_static_tile_distribution(copy{}), sequence<0, 0>{}, sequence<16, 32>{});

// No rows.
// EXPECT: slice_distribution_from_x: the part has no elements; ends must exceed begins
constexpr auto empty =
    tw::slice_distribution_from_x(tw::make_static_tile_distribution(copy{}), sequence<64, 0>{}, sequence<64, 32>{});

// Ends for one of two dimensions.
// EXPECT: slice_distribution_from_x: begins and ends need one entry for each dimension of the tile
constexpr auto entries =
    tw::slice_distribution_from_x(tw::make_static_tile_distribution(copy{}), sequence<0, 0>{}, sequence<64>{});

// A part of each of the two rows that a thread holds.
// EXPECT: slice_distribution_from_x: the part is no range of one factor; begin and end where a factor does
constexpr auto no_box =
    tw::slice_distribution_from_x(tw::make_static_tile_distribution(copy{}), sequence<32, 0>{}, sequence<96, 32>{});

// 192 of 128 rows.
// EXPECT: slice_distribution_from_x: the part reaches past the tile
constexpr auto range =
    tw::slice_distribution_from_x(tw::make_static_tile_distribution(copy{}), sequence<64, 0>{}, sequence<192, 32>{});
