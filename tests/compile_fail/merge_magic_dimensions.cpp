// SPDX-License-Identifier: MIT
// A merge of seven dimensions by magic division.
// EXPECT: merge with magic division: at most six dimensions; merge in two steps
#include <tilewright/transform/merge.hpp>

namespace tw = tilewright;

auto f(int n) { return tw::make_merge_transform_v2_magic_division(tw::make_tuple(n, n, n, n, n, n, n)); }
