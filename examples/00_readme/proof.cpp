// SPDX-License-Identifier: MIT
#include <tilewright/core.hpp>

#include <cstdio>

namespace tw = tilewright;
using namespace tilewright::arch;

// A tile of 32 x 64 halves in LDS: row after row, and with the 16-byte chunks of each row permuted by XOR.
constexpr auto plain = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
constexpr auto swizzled = tw::make_lds_index_swapping_descriptor<64, 8, 1, 32, tw::half_t>();

// A wave reads operand A of two MFMA 32x32x8 instructions: 16 bytes for each lane.
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
using from_plain = tw::lds_access<gfx942, plain, operand, tw::half_t, tw::lds_access_kind::read>;
using from_swizzled = tw::lds_access<gfx942, swizzled, operand, tw::half_t, tw::lds_access_kind::read>;

static_assert(tw::require_conflict_free<from_swizzled>());  // with from_plain it does not compile

int main() {
  std::printf("extra LDS cycles of one read: %d plain, %d swizzled\n", from_plain::analysis.conflicts,
              from_swizzled::analysis.conflicts);
}
