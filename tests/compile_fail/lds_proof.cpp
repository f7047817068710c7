// SPDX-License-Identifier: MIT
// Proofs of LDS accesses.
#include <tilewright/core/arch/gfx12.hpp>
#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/core/arch/gfx950.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/core/descriptor/make_descriptor.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>
#include <tilewright/core/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;
using enum tw::lds_access_kind;
using tw::index_t, tw::lds_access, tw::require_conflict_free, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

constexpr auto plain = tw::make_naive_tensor_descriptor_packed(make_tuple(number<32>{}, number<64>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;

// A tile longer than its layout, one of another number of dimensions, ldmatrix where 8 bytes are contiguous, and an
// instruction that the target lacks.
// EXPECT: LDS proof: the distribution's tile is longer than the layout; distribute a tile that fits
// EXPECT: LDS proof: the distribution does not fit the layout
// EXPECT: LDS proof: ldmatrix reads rows of 16 contiguous, aligned bytes; the layout or the distribution leaves fewer
// EXPECT: LDS proof: the target has no LDS instruction of this kind and width
// EXPECT: analyze_lds_access: the distribution has another number of dimensions than the layout
template <index_t... Lengths>
constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<Lengths>{}...));
using proof_faults_operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_16x16x16).a)>;
using proof_faults_wide = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_16x16x32).a)>;
using narrow = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<4, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
template <class Arch, auto Layout, class Distribution, tw::lds_access_kind Kind>
constexpr bool proof = require_conflict_free<lds_access<Arch, Layout, Distribution, short, Kind>>();
static_assert(proof<gfx942, packed<8, 16>, proof_faults_operand, read>);
static_assert(proof<gfx942, packed<256>, proof_faults_operand, read>);
static_assert(proof<sm90, packed<8, 16>, narrow, ldmatrix>);
static_assert(proof<gfx942, packed<16, 32>, proof_faults_wide, stmatrix>);
constexpr auto analysis = tw::analyze_lds_access<gfx942>(packed<256>, proof_faults_operand{}, 2, read);

// The operand of an instruction for waves of 64 lanes, on a target whose waves have 32.
// EXPECT: LDS proof: the distribution has more lanes than a wave of the target
// EXPECT: value_and_limit<64, 32>
static_assert(require_conflict_free<lds_access<gfx1201, plain, operand, short, read>>());

// A tile that a block's LDS cannot hold.
// EXPECT: LDS proof: the access leaves the LDS that a block may have
// EXPECT: value_and_limit<66048, 65536>
constexpr auto long_rows =
    tw::make_naive_tensor_descriptor(make_tuple(number<2>{}, number<256>{}), make_tuple(number<32768>{}, number<1>{}));
using rows = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<32, 8>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
static_assert(require_conflict_free<lds_access<gfx942, long_rows, rows, short, write>>());

// A proof about transposing reads by threads that hold 16 bytes next to each other.
// EXPECT: LDS proof: a transposing read takes 8 contiguous, aligned bytes of each lane
constexpr auto layout = tw::make_naive_tensor_descriptor_packed(make_tuple(number<16>{}, number<32>{}));
using proof_transposing_width = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_16x16x32).a)>;
static_assert(require_conflict_free<lds_access<gfx950, layout, proof_transposing_width, short, transposing_read>>());

// The concept prints the degree, where the compiler prints values.
// EXPECT(clang): (8 == 1) evaluated to false
// EXPECT(gcc): constraints not satisfied
// EXPECT(gcc): worst_degree == 1
static_assert(tw::ConflictFree<lds_access<gfx942, plain, operand, short, read>>);
