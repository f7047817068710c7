// SPDX-License-Identifier: MIT
// A tile that a block's LDS cannot hold.
// EXPECT: LDS proof: the access leaves the LDS that a block may have
// EXPECT: value_and_limit<66048, 65536>
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/tile_distribution.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;

constexpr auto long_rows = tw::make_naive_tensor_descriptor(tw::make_tuple(tw::number<2>{}, tw::number<256>{}),
                                                            tw::make_tuple(tw::number<32768>{}, tw::number<1>{}));
using rows = tw::tile_distribution<tw::tile_distribution_encoding<
    tw::sequence<>, tw::tuple<tw::sequence<2>, tw::sequence<32, 8>>, tw::tuple<tw::sequence<1, 2>>,
    tw::tuple<tw::sequence<0, 0>>, tw::sequence<2>, tw::sequence<1>>::value>;
static_assert(
    tw::require_conflict_free<tw::lds_access<tw::arch::gfx942, long_rows, rows, short, tw::lds_access_kind::write>>());
