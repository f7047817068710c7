// SPDX-License-Identifier: MIT
// Rows that overlap.
// EXPECT: lds_write_with_xor: rows must not overlap, and must begin at a multiple of KPack
#include <tilewright/lds/xor_preshuffle.hpp>

namespace tw = tilewright;

void f(tw::exec::lds_pointer p, tw::half_t* x) { tw::lds_read_with_xor<tw::half_t, 32>(x, p, 0, 0); }
