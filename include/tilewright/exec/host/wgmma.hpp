// SPDX-License-Identifier: MIT
// Matrix instructions of Hopper GPUs, by warpgroups (four waves), for kernels that run on the CPU. They read LDS and
// give results when they are waited for; until then the accumulators are NaN.
#pragma once

#include <tilewright/exec/host/barrier.hpp>

namespace tilewright::exec {
inline namespace host {

/// Orders what was done to the accumulators and LDS before, and matrix instructions after.
inline void wgmma_fence() { detail::hopper().wgmma_fence(*emulator::current_thread); }
/// Ends a group of matrix instructions.
inline void wgmma_commit() { detail::hopper().wgmma_commit(*emulator::current_thread); }
/// Waits until at most `Pending` groups are unfinished.
template <index_t Pending>
void wgmma_wait(call_site where = {}) {
  detail::hopper().wgmma_wait(*emulator::current_thread, Pending, where);
}

/// c (64 x N, f32) = a (64 x 32 bytes) b (N x 32 bytes), plus c if `accumulate`. The descriptors say how a and b lie in
/// LDS; they are transposed where rows along m or n are contiguous instead of rows along k (16-bit types only). Runs
/// asynchronously: see wgmma_commit and wgmma_wait. Register i of c belongs to the element that the lane map of
/// mma_m16n8k16_x2 gives it.
template <index_t N, class T, bool TransposeA, bool TransposeB>
void wgmma(float* c, unsigned long long a_descriptor, unsigned long long b_descriptor, bool accumulate,
           call_site where = {}) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "wgmma: n is a multiple of 8 up to 256");
  static_assert(__is_same(T, half_t) || __is_same(T, bfloat16_t) || __is_same(T, fp8_ocp_t),
                "wgmma: the operands are half_t, bfloat16_t or fp8_ocp_t");
  static_assert(sizeof(T) == 2 || (!TransposeA && !TransposeB), "wgmma: operands of 8 bits cannot be transposed");
  detail::hopper().wgmma(*emulator::current_thread, c,
                         {a_descriptor, b_descriptor, matrix_element_v<T>, N, TransposeA, TransposeB, accumulate},
                         where);
}

}  // namespace host
}  // namespace tilewright::exec
