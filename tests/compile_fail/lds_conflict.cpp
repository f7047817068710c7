// SPDX-License-Identifier: MIT
// A proof that fails: the message says who meets whom.
// COMPILERS: also nvcc
// EXPECT: LDS proof: lanes of one phase want different words of one bank
// EXPECT: degree<8>, tilewright::found::extra_cycles<56>, tilewright::found::phase<0>, tilewright::found::bank<0>
// EXPECT: tilewright::found::lanes<22, 23>, tilewright::found::at<22, 0>, tilewright::found::at<23, 0>
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

constexpr auto plain = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
static_assert(tw::require_conflict_free<tw::lds_access<gfx942, plain, operand, short, tw::lds_access_kind::read>>());
