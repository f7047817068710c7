// SPDX-License-Identifier: MIT
// Proofs that fail: the message says who meets whom, where in the tile.
// COMPILERS: also nvcc
// EXPECT(2): LDS proof: lanes of one phase want different words of one bank
// EXPECT: degree<8>, tilewright::found::extra_cycles<56>, tilewright::found::phase<0>, tilewright::found::bank<0>
// EXPECT: tilewright::found::lanes<22, 23>, tilewright::found::at<22, 0>, tilewright::found::at<23, 0>
// EXPECT: tilewright::found::lanes<6, 7>, tilewright::found::at<0, 192>, tilewright::found::at<0, 224>
// EXPECT(gcc): tilewright::found::lanes<6, 7>, tilewright::found::at<0, 192>, tilewright::found::at<0, 224>
#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/core/descriptor/make_descriptor.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

constexpr auto plain = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
static_assert(tw::require_conflict_free<tw::lds_access<gfx942, plain, operand, short, tw::lds_access_kind::read>>());

constexpr auto two_rows = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<2>{}, tw::number<1024>{}));
using every_32nd = tw::tile_distribution<tw::tile_distribution_encoding<
    tw::sequence<>, tw::tuple<tw::sequence<2>, tw::sequence<32, 32>>, tw::tuple<tw::sequence<1, 2>>,
    tw::tuple<tw::sequence<0, 0>>, tw::sequence<2>, tw::sequence<1>>::value>;
static_assert(
    tw::require_conflict_free<tw::lds_access<gfx942, two_rows, every_32nd, float, tw::lds_access_kind::write>>());
