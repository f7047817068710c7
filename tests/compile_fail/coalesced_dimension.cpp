// SPDX-License-Identifier: MIT
// Columns are dimension 0, rows dimension 1.
// EXPECT: coalesced_access_pattern: the contiguous dimension is 0 (columns) or 1 (rows)
#include <tilewright/ck_tile/access_pattern.hpp>

namespace tw = tilewright;

auto n = tw::coalesced_access_pattern<float, 64, 64, 32, 2>::num_warp_accesses;
