// SPDX-License-Identifier: MIT
// Rows that overlap, and rows that begin between vectors.
// EXPECT: lds_write_with_xor: rows must not overlap, and must begin at a multiple of KPack
// EXPECT: lds_write_with_xor: rows must not overlap, and must begin at a multiple of KPack
#include <tilewright/ck_tile/xor_preshuffle.hpp>

namespace tw = tilewright;

void overlapping(tw::exec::lds_pointer p, tw::half_t* x) { tw::lds_read_with_xor<tw::half_t, 32>(x, p, 0, 0); }
void between(tw::exec::lds_pointer p, const tw::half_t* x) { tw::lds_write_with_xor<tw::half_t, 68>(p, x, 0, 0); }
