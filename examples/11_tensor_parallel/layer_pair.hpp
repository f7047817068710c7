// SPDX-License-Identifier: MIT
// Two layers of a network that several GPUs share, Y = silu(X W1) W2: W1 by columns, W2 by rows.
#pragma once

#include <tilewright/kernels/parallel/parallel_gemm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace tensor_parallel_example {

namespace tw = tilewright;
using tw::bfloat16_t, tw::index_t;
using product =
    tw::gemm_operation<bfloat16_t, tw::operand_major::k, tw::operand_major::k, bfloat16_t, tw::epilogue::from_args>;

struct sizes {
  index_t tokens, features, hidden;
};

/// Elements that every rank can compute.
inline float element(unsigned matrix, index_t i, index_t j) {
  unsigned h = matrix * 0x9e3779b9u ^ unsigned(i) * 0x85ebca6bu ^ unsigned(j) * 0xc2b2ae35u;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return float(int(h >> 16 & 7) - 3) / 8;
}
enum : unsigned { x_matrix = 1, w1_matrix, w2_matrix };

/// Rows [row0, row0 + rows) and columns [col0, col0 + cols) of a matrix.
inline std::vector<bfloat16_t> part_of(unsigned matrix, index_t row0, index_t rows, index_t col0, index_t cols) {
  std::vector<bfloat16_t> part;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j)
      part.push_back(tw::type_convert<bfloat16_t>(element(matrix, row0 + i, col0 + j)));
  return part;
}

/// The arguments of the two products of a rank. W1 and W2 are stored as n x k.
inline tw::gemm_args up_args(const sizes& s, index_t ranks, const void* x, const void* w1, void* h) {
  tw::gemm_args args;
  args.a = x, args.b = w1, args.c = h;
  args.m = s.tokens, args.n = s.hidden / ranks, args.k = s.features;
  args.lda = args.ldb = args.k, args.ldc = args.n;
  args.activation = tw::activation::silu;
  return args;
}
inline tw::gemm_args down_args(const sizes& s, index_t ranks, const void* h, const void* w2, void* y) {
  tw::gemm_args args;
  args.a = h, args.b = w2, args.c = y;
  args.m = s.tokens, args.n = s.features, args.k = s.hidden / ranks;
  args.lda = args.ldb = args.k, args.ldc = args.n;
  return args;
}

/// Compares some rows of Y, of which the rank has those from row0 on, with loops. Prints what is wrong.
inline bool is_right(const sizes& s, index_t row0, const std::vector<bfloat16_t>& y) {
  const index_t rows = index_t(y.size()) / s.features;
  std::vector<float> h(std::size_t(s.hidden));
  for (index_t i = 0; i < rows; i += std::max(1, rows / 3)) {
    for (index_t j = 0; j < s.hidden; ++j) {
      float sum = 0;
      for (index_t k = 0; k < s.features; ++k) sum += element(x_matrix, row0 + i, k) * element(w1_matrix, j, k);
      h[std::size_t(j)] = sum / (1 + std::exp(-sum));
    }
    float largest = 0, error = 0;
    for (index_t j = 0; j < s.features; ++j) {
      float sum = 0;
      for (index_t k = 0; k < s.hidden; ++k) sum += h[std::size_t(k)] * element(w2_matrix, j, k);
      const float got = tw::type_convert<float>(y[std::size_t(i) * std::size_t(s.features) + std::size_t(j)]);
      largest = std::max(largest, std::fabs(sum));
      error = std::fabs(got - sum) <= error ? error : std::fabs(got - sum);  // NaN is an error
    }
    if (!(error <= 0.02f * largest)) {
      std::printf("row %d of Y: error %g, largest element %g\n", row0 + i, double(error), double(largest));
      return false;
    }
  }
  return true;
}

}  // namespace tensor_parallel_example
