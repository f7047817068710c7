// SPDX-License-Identifier: MIT
// A proof about transposing reads by threads that hold 16 bytes next to each other.
// EXPECT: LDS proof: a transposing read takes 8 contiguous, aligned bytes of each lane
#include <tilewright/arch/gfx950.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;

constexpr auto layout = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<16>{}, tw::number<32>{}));
using wide = tw::tile_distribution<tw::encoding_of(describe(tw::arch::matrix_op::mfma_16x16x32).a)>;
static_assert(tw::require_conflict_free<
              tw::lds_access<tw::arch::gfx950, layout, wide, short, tw::lds_access_kind::transposing_read>>());
