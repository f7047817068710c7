// SPDX-License-Identifier: MIT
// What docs/architecture.md shows.
#include <tilewright/tilewright.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
namespace {

TEST(DocsArchitecture, KLoop) {
  // k = 72 in tiles of 32: the first one holds 24 columns that do not exist and 8 that do.
  constexpr tw::k_tiles tiles = tw::tiles_along_k(72, 32);
  static_assert(tiles.count == 3 && tiles.first_origin == -24);
  EXPECT_EQ(tiles.first_origin + tiles.count * 32, 72);
}

}  // namespace
