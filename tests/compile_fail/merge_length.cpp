// SPDX-License-Identifier: MIT
// A merged length beyond 32 bits; too many dimensions for magic division.
// EXPECT: merge: the merged length does not fit into 32 bits; merge fewer dimensions
// EXPECT: merge with magic division: at most six dimensions; merge in two steps, or use make_merge_transform_v3_division_mod
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto huge = tw::make_merge_transform(tw::make_tuple(tw::number<65536>{}, tw::number<32768>{}));
constexpr auto many = tw::make_merge_transform_v2_magic_division(tw::make_tuple(2, 2, 2, 2, 2, 2, 2));
