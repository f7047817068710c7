// SPDX-License-Identifier: MIT
// Machine functions.
#include <tilewright/machine/exec/exec.hpp>

namespace tw = tilewright;

namespace exec = tilewright::exec;

// A copy of three bytes for each lane.
// EXPECT: async_load_to_lds: one copy moves 1, 2, 4, 8 or 16 bytes for each lane
void async_load_width(const exec::global_buffer& from, exec::lds_pointer to) {
  exec::async_load_to_lds<3>(from, 0, to, 0);
}

// More copies outstanding than a counter holds.
// EXPECT: async_wait: between 0 and 63 copies may be outstanding
void async_wait_count() { tilewright::exec::async_wait<64>(); }

// An atomic update of a type that memory cannot update in one piece.
// EXPECT: buffer_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t
void atomic_type(const exec::global_buffer& buffer) { exec::buffer_atomic<exec::atomic_op::add>(buffer, 0, 1.0); }

// An atomic update of a single 16-bit number.
// EXPECT: lds_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t
void atomic_type_lds(exec::lds_pointer p) { exec::lds_atomic<exec::atomic_op::max>(p, 0, tilewright::half_t(1.0f)); }

// A transposing read of 4-byte elements.
// EXPECT: lds_load_transpose: transposing reads exist for elements of 1 and 2 bytes
float lds_load_transpose_width(tw::exec::lds_pointer p) { return tw::exec::lds_load_transpose<float>(p, 0)[0]; }

// A read of 12 bytes with one instruction.
// EXPECT: lds_load: one LDS instruction reads 1, 2, 4, 8 or 16 bytes
struct three_floats {
  float x, y, z;
};
float lds_load_width(tw::exec::lds_pointer p) { return tw::exec::lds_load<three_floats>(p, 0).x; }

// A write of 32 bytes with one instruction.
// EXPECT: lds_store: one LDS instruction writes 1, 2, 4, 8 or 16 bytes
// EXPECT(clang): lds_store: one LDS instruction writes 1, 2, 4, 8 or 16 bytes
struct four_doubles {
  double v[4];
};
void lds_store_width(tw::exec::lds_pointer p, const four_doubles& v) { tw::exec::lds_store(p, 0, v); }

// Lanes that exchange halves, or values with themselves; sums of int8_t in float.
// EXPECT: shuffle_xor: lanes exchange values of 4 bytes
// EXPECT: shuffle_xor: the mask must be less than the wave's size, and not 0
// EXPECT: mma: int8_t is added up in int, everything else in float
void machine_types(float* c, const tw::int8_t* a, tw::half_t h) {
  (void)tw::exec::shuffle_xor<1>(h);
  (void)tw::exec::shuffle_xor<0>(1);
  tw::exec::mma<tw::arch::matrix_op::mfma_16x16x64_b8>(c, a, a);
}

// A matrix instruction for 16-bit elements on floats.
// EXPECT: mma: the matrix instruction takes elements of another size
void mma_element_type(float* c, const float* a, const float* b) {
  tw::exec::mma<tw::arch::matrix_op::mfma_16x16x16>(c, a, b);
}

// A shuffle of 8 bytes.
// EXPECT: shuffle: lanes exchange values of 4 bytes
// EXPECT(clang): shuffle: lanes exchange values of 4 bytes
// EXPECT(clang 4): bit_cast: the types differ in size
double f(double x) { return tw::exec::shuffle(x, 0); }

// A lane that no wave has.
// EXPECT: shuffle_xor: the mask must be less than the wave's size, and not 0
int shuffle_xor_mask() { return tilewright::exec::shuffle_xor<64>(1); }
