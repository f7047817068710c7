// SPDX-License-Identifier: MIT
// Vectors of 32 bytes.
// EXPECT: lds_write_with_xor: one instruction moves at most 16 bytes; choose a smaller KPack
#include <tilewright/lds/xor_preshuffle.hpp>

namespace tw = tilewright;

void f(tw::exec::lds_pointer p, const float* x) { tw::lds_write_with_xor<float, 64>(p, x, 0, 0); }
