// SPDX-License-Identifier: MIT
// A value, not wrapped in number<>.
// EXPECT: make_static_tile_distribution: an encoding is needed: tile_distribution_encoding<...>{}, or a value as number<encoding>{}
#include <tilewright/distribution/tile_distribution.hpp>

namespace tw = tilewright;

constexpr tw::distribution_encoding encoding;
auto distribution = tw::make_static_tile_distribution(encoding);
