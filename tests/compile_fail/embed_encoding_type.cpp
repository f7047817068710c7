// SPDX-License-Identifier: MIT
// A value instead of an encoding type.
// EXPECT: make_embed_tile_distribution_encoding: encodings are needed: tile_distribution_encoding<...>{}, or values as number<encoding>{}
#include <tilewright/distribution/embed_encoding.hpp>

namespace tw = tilewright;

constexpr tw::distribution_encoding encoding;
auto both = tw::make_embed_tile_distribution_encoding(encoding, encoding);
