// SPDX-License-Identifier: MIT
// Vectors of 32 bytes, and of 17.
// EXPECT: lds_write_with_xor: one instruction moves at most 16 bytes; choose a smaller KPack
// EXPECT: lds_write_with_xor: one instruction moves at most 16 bytes; choose a smaller KPack
#include <tilewright/ck_tile/xor_preshuffle.hpp>

namespace tw = tilewright;

const auto wide = tw::detail::xor_offset<float, 64, 64, 8>(0, 0);
const auto odd = tw::detail::xor_offset<char, 68, 68, 17>(0, 0);
