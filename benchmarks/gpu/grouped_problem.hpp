// SPDX-License-Identifier: MIT
// What grouped.py gives to libraries of grouped and block-scaled GEMM: one C function.
#pragma once

/// Arguments of any kernel. Strides in elements.
struct grouped_problem {
  const void *a, *b;
  void* c;
  const int *ends, *counts;
  int groups, slot_rows;
  int m, n, k;
  int lda, ldb, ldc;
  long long stride;  // of B or C, from group to group
  float alpha, beta;
  const float *a_scales, *b_scales;  // null: not block-scaled
  int row_stride_a_scales, k_stride_a_scales, ld_b_scales;
  long long stride_b_scales;
  void* workspace;
};

extern "C" {
/// For the caller to check that both have the same struct.
int tilewright_grouped_problem_bytes();
/// Queues the kernel of a name on a CUDA stream. nullptr, or what went wrong.
const char* tilewright_grouped(const char* name, const grouped_problem* p, void* stream);
}
