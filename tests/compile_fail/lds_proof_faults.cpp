// SPDX-License-Identifier: MIT
// A tile longer than its layout, one of another number of dimensions, ldmatrix where 8 bytes are contiguous, and an
// instruction that the target lacks.
// EXPECT: LDS proof: the distribution's tile is longer than the layout; distribute a tile that fits
// EXPECT: LDS proof: the distribution does not fit the layout
// EXPECT: LDS proof: ldmatrix reads rows of 16 contiguous, aligned bytes; the layout or the distribution leaves fewer
// EXPECT: LDS proof: the target has no LDS instruction of this kind and width
// EXPECT: analyze_lds_access: the distribution has another number of dimensions than the layout
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/arch/sm90.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using namespace tilewright::arch;
template <index_t... Lengths>
constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<Lengths>{}...));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_16x16x16).a)>;
using wide = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_16x16x32).a)>;
using narrow = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<4, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
using enum tw::lds_access_kind;
template <class Arch, auto Layout, class Distribution, tw::lds_access_kind Kind>
constexpr bool proof = tw::require_conflict_free<tw::lds_access<Arch, Layout, Distribution, short, Kind>>();
static_assert(proof<gfx942, packed<8, 16>, operand, read>);
static_assert(proof<gfx942, packed<256>, operand, read>);
static_assert(proof<sm90, packed<8, 16>, narrow, ldmatrix>);
static_assert(proof<gfx942, packed<16, 32>, wide, stmatrix>);
constexpr auto analysis = tw::analyze_lds_access<gfx942>(packed<256>, operand{}, 2, read);
