// SPDX-License-Identifier: MIT
// The XOR preshuffle by hand.
#include <tilewright/compat/ck_tile/xor_preshuffle.hpp>

namespace tw = tilewright;

// Rows that overlap, and rows that begin between vectors.
// EXPECT(2): lds_write_with_xor: rows must not overlap, and must begin at a multiple of KPack
void overlapping(tw::exec::lds_pointer p, tw::half_t* x) { tw::lds_read_with_xor<tw::half_t, 32>(x, p, 0, 0); }
void between(tw::exec::lds_pointer p, const tw::half_t* x) { tw::lds_write_with_xor<tw::half_t, 68>(p, x, 0, 0); }

// Vectors of 32 bytes, and of 17.
// EXPECT(2): lds_write_with_xor: one instruction moves at most 16 bytes; choose a smaller KPack
const auto wide = tw::detail::xor_offset<float, 64, 64, 8>(0, 0);
const auto odd = tw::detail::xor_offset<char, 68, 68, 17>(0, 0);

// Rows that are no whole number of vectors, and vectors of nothing.
// EXPECT(2): xor_preshuffle: KPerBlock must be a multiple of KPack
const int place = tw::xor_preshuffle<60, 8>(1, 2);
const int nowhere = tw::xor_preshuffle<64, 0>(1, 2);

// Six vectors in a row.
// EXPECT(2): xor_preshuffle: the vectors of a row must be a power of two, or two of them would share a place
const int six_vectors = tw::xor_preshuffle<48, 8>(1, 2);
