// SPDX-License-Identifier: MIT
// Walks for accesses that coalesce.
#include <tilewright/compat/ck_tile/memory_access_analyzer.hpp>

namespace tw = tilewright;

// Columns are dimension 0, rows dimension 1.
// EXPECT: coalesced_access_pattern: the contiguous dimension is 0 (columns) or 1 (rows)
auto dimension = tw::coalesced_access_pattern<float, 64, 64, 32, 2>::num_warp_accesses;

// Elements of 12 bytes.
// EXPECT: coalesced_access_pattern: the element type's size must divide 16 bytes
// EXPECT(gcc): space_filling_curve: the access order must list each dimension once
struct three {
  float x, y, z;
};
auto element = tw::coalesced_access_pattern<three, 64, 64>::vector_size;

// A warp of no threads.
// EXPECT: coalesced_access_pattern: a warp has at least one thread
auto warp = tw::coalesced_access_pattern<float, 64, 64, 0>::num_warp_accesses;
