// SPDX-License-Identifier: MIT
// A value instead of an encoding type.
// EXPECT: make_reduce_tile_distribution_encoding: an encoding is needed: tile_distribution_encoding<...>{}, or a value as number<encoding>{}
#include <tilewright/distribution/reduce_encoding.hpp>

namespace tw = tilewright;

constexpr tw::distribution_encoding encoding;
auto reduced = tw::make_reduce_tile_distribution_encoding(encoding, tw::sequence<0>{});
