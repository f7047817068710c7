// SPDX-License-Identifier: MIT
#include <tilewright/core.hpp>

#include <cstdio>

namespace tw = tilewright;
using namespace tilewright::arch;

// 32 x 64 halves in LDS, row after row; and with the 16-byte chunks of every row permuted.
constexpr auto plain = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
constexpr auto swizzled = tw::lds_index_swapping<64, 8, 1, 32, tw::half_t>::descriptor;
// How the lanes of a wave read it: each as the matrix instruction wants its operand.
constexpr auto lanes = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>{};

constexpr auto cost = tw::analyze_lds_access<gfx942>(plain, lanes, sizeof(tw::half_t), tw::lds_access_kind::read);
constexpr auto proof = tw::analyze_lds_access<gfx942>(swizzled, lanes, sizeof(tw::half_t), tw::lds_access_kind::read);
static_assert(proof.is_conflict_free());

int main() {
  std::printf("plain rows: %d extra cycles; lanes %d and %d meet in bank %d\n", cost.conflicts, cost.lanes[0],
              cost.lanes[1], cost.bank);
}
