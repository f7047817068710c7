// SPDX-License-Identifier: MIT
// A problem for the kernel, and its result by three loops.
#pragma once

#include <cmath>
#include <vector>

#include "swiglu.hpp"

namespace swiglu_example {

/// Operands are small integers, so that every sum is exact.
struct problem {
  index_t m = 200, n = 136, k = 72;
  std::vector<half_t> a = numbers(m * k, 3), b = numbers(2 * n * k, 7), bias = numbers(n, 11), c = numbers(m * n, 0);
  swiglu_args args = make_args();

  static std::vector<half_t> numbers(index_t count, index_t step) {
    std::vector<half_t> values(static_cast<std::size_t>(count));
    for (index_t i = 0; i < count; ++i) values[std::size_t(i)] = half_t(float(i * step % 5 - 2));
    return values;
  }

  swiglu_args make_args() {
    swiglu_args result;
    result.a = a.data();
    result.b = b.data();
    result.c = c.data();
    result.m = m;
    result.n = n;
    result.k = k;
    result.lda = result.ldb = k;
    result.ldc = n;
    result.product_stride_b = n * k;
    result.up_bias = bias.data();
    return result;
  }

  index_t count_wrong() const {
    index_t wrong = 0;
    for (index_t i = 0; i < m; ++i) {
      for (index_t j = 0; j < n; ++j) {
        float gate = 0, up = float(bias[std::size_t(j)]);
        for (index_t l = 0; l < k; ++l) {
          gate += float(a[std::size_t(i * k + l)]) * float(b[std::size_t(j * k + l)]);
          up += float(a[std::size_t(i * k + l)]) * float(b[std::size_t((n + j) * k + l)]);
        }
        const float expected = gate / (1 + std::exp(-gate)) * up;
        wrong += !(std::abs(float(c[std::size_t(i * n + j)]) - expected) <= 0.001f * (1 + std::abs(expected)));
      }
    }
    return wrong;
  }
};

}  // namespace swiglu_example
