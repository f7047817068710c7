// SPDX-License-Identifier: MIT
// A warp of no threads.
// EXPECT: coalesced_access_pattern: a warp has at least one thread
#include <tilewright/ck_tile/access_pattern.hpp>

namespace tw = tilewright;

auto n = tw::coalesced_access_pattern<float, 64, 64, 0>::num_warp_accesses;
