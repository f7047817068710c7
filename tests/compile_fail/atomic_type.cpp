// SPDX-License-Identifier: MIT
// An atomic update of a type that memory cannot update in one piece.
// EXPECT: buffer_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t
#include <tilewright/exec/exec.hpp>

namespace exec = tilewright::exec;

void f(const exec::global_buffer& buffer) { exec::buffer_atomic<exec::atomic_op::add>(buffer, 0, 1.0); }
