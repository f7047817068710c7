// SPDX-License-Identifier: MIT
#include <tilewright/core.hpp>

#include <cstdio>

namespace tw = tilewright;
using namespace tilewright::arch;

// 32 x 64 halves in LDS: row after row, and with the 16-byte chunks of every row permuted.
constexpr auto plain = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
constexpr auto swizzled = tw::lds_index_swapping<64, 8, 1, 32, tw::half_t>::descriptor;
// Every lane of a wave reads what it must hold of a matrix instruction's operand.
constexpr auto lanes = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>{};

constexpr auto before = tw::analyze_lds_access<gfx942>(plain, lanes, 2, tw::lds_access_kind::read);
constexpr auto after = tw::analyze_lds_access<gfx942>(swizzled, lanes, 2, tw::lds_access_kind::read);
static_assert(before.worst_degree == 8);  // 8 lanes meet in one bank; before.lanes names two of them, 22 and 23
static_assert(after.is_conflict_free());

int main() { std::printf("extra cycles of one read: %d plain, %d swizzled\n", before.conflicts, after.conflicts); }
