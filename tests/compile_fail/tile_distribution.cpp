// SPDX-License-Identifier: MIT
// Encodings of tile distributions.
#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tw = tilewright;
using tw::sequence, tw::tile_distribution_encoding, tw::tuple;

// A factor of zero.
// EXPECT: tile_distribution_encoding: a factor must be at least 1
using bad_length = tile_distribution_encoding<sequence<>, tuple<sequence<4, 0>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                                              tuple<sequence<0, 0>>, sequence<1, 2>, sequence<1, 1>>;
constexpr auto of_bad_length = tw::make_static_tile_distribution(bad_length{});

// Two major and one minor id.
// EXPECT: tile_distribution_encoding: as many minor as major ids are needed
using ids_differ = tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                                              tuple<sequence<0, 0>>, sequence<1, 2>, sequence<1>>;
constexpr auto of_ids_differ = tw::make_static_tile_distribution(ids_differ{});

// Nobody owns factor 1 of dimension 1.
// EXPECT: tile_distribution_encoding: a factor has no owner; give each (major, minor) id to one P or one Y
using owned_by_none =
    tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                               tuple<sequence<0, 0>>, sequence<1>, sequence<1>>;
constexpr auto of_owned_by_nobody = tw::make_static_tile_distribution(owned_by_none{});

// The lane and Y both own factor 0 of dimension 0.
// EXPECT: tile_distribution_encoding: a factor has two owners; give each (major, minor) id to one P or one Y
using owned_twice = tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                                               tuple<sequence<0, 0>>, sequence<1, 2>, sequence<0, 1>>;
constexpr auto of_owned_twice = tw::make_static_tile_distribution(owned_twice{});

// Two major and one minor list of partition indices.
// EXPECT: tile_distribution_encoding: as many minor as major P lists are needed
using p_lists_differ =
    tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<8, 2>>, tuple<sequence<1>, sequence<2>>,
                               tuple<sequence<0, 0>>, sequence<1, 2>, sequence<1, 1>>;
constexpr auto of_p_lists_differ = tw::make_static_tile_distribution(p_lists_differ{});

// A thread cannot replicate.
// EXPECT: tile_distribution_encoding: an R factor is listed in Y; only threads replicate, list it in a P
using replicated_per_thread =
    tile_distribution_encoding<sequence<2>, tuple<sequence<4, 2>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                               tuple<sequence<0, 0>>, sequence<1, 2, 0>, sequence<1, 1, 0>>;
constexpr auto of_replicated_per_thread = tw::make_static_tile_distribution(replicated_per_thread{});

// H as one sequence.
// EXPECT: tile_distribution_encoding: R and both Y lists are sequences, H and both P lists are tuples of sequences
using encoding_shapes = tile_distribution_encoding<sequence<>, sequence<4, 8>, tuple<sequence<1>>, tuple<sequence<0>>,
                                                   sequence<1>, sequence<1>>;
encoding_shapes e;

// A tile of five dimensions, and three partition indices.
// EXPECT(2): tile_distribution_encoding: an encoding holds 4 dimensions and 2 partition indices (wave, lane)
using too_many_dims =
    tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<8, 2>, sequence<1>, sequence<1>, sequence<1>>,
                               tuple<sequence<1, 2>>, tuple<sequence<0, 0>>, sequence<1, 2>, sequence<1, 1>>;
constexpr auto of_too_many_dims = tw::make_static_tile_distribution(too_many_dims{});

using block_wave_lane =
    tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<8, 2>>,
                               tuple<sequence<1>, sequence<1>, sequence<2>>,
                               tuple<sequence<0>, sequence<1>, sequence<0>>, sequence<2>, sequence<1>>;
constexpr auto of_a_grid = tw::make_static_tile_distribution(block_wave_lane{});

// A dimension of seven factors.
// EXPECT: tile_distribution_encoding: a list has more factors than an encoding holds (6)
using too_many_factors =
    tile_distribution_encoding<sequence<>, tuple<sequence<4, 2, 1, 1, 1, 1, 1>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                               tuple<sequence<0, 0>>, sequence<1, 2>, sequence<1, 1>>;
constexpr auto of_too_many_factors = tw::make_static_tile_distribution(too_many_factors{});

// Nine dimensions of Y.
// EXPECT: tile_distribution_encoding: more ids than an encoding holds (6 in a P, 8 in Y)
using too_many_ids =
    tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                               tuple<sequence<0, 0>>, sequence<1, 1, 1, 1, 1, 1, 1, 1, 1>,
                               sequence<1, 2, 3, 4, 5, 6, 7, 8, 9>>;
constexpr auto of_too_many_ids = tw::make_static_tile_distribution(too_many_ids{});

// Y names factor 3 of dimension 0, which has two: the message has the id.
// EXPECT: tile_distribution_encoding: an id names a factor that does not exist; ids are (0, i) for R and (1 + d, i) for factor i of dimension d
// EXPECT: is_factor_owned_well<1, 3>
using unknown_factor =
    tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                               tuple<sequence<0, 0>>, sequence<1, 2>, sequence<3, 1>>;
constexpr auto of_unknown_factor = tw::make_static_tile_distribution(unknown_factor{});

// A value, not wrapped in number<>.
// EXPECT: make_static_tile_distribution: an encoding is needed: tile_distribution_encoding<...>{}, or a value as number<encoding>{}
// EXPECT(clang 3): make_static_tile_distribution: an encoding is needed: tile_distribution_encoding<...>{}, or a value as number<encoding>{}
constexpr tw::distribution_encoding distribution_of_a_value_encoding;
auto distribution_of_a_value_distribution = tw::make_static_tile_distribution(distribution_of_a_value_encoding);
