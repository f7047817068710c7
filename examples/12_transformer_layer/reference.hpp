// SPDX-License-Identifier: MIT
// The same layer in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace layer_example {

using matrix = std::vector<double>;  // row-major

inline matrix multiply(const matrix& a, const matrix& b, std::size_t k) {
  const std::size_t m = a.size() / k, n = b.size() / k;
  matrix c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t x = 0; x < k; ++x)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + x] * b[x * n + j];
  return c;
}

inline matrix normalise(const matrix& x, const matrix& weight) {
  matrix y = x;
  for (std::size_t row = 0; row < x.size(); row += weight.size()) {
    double squares = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) squares += x[row + i] * x[row + i];
    for (std::size_t i = 0; i < weight.size(); ++i)
      y[row + i] *= weight[i] / std::sqrt(squares / double(weight.size()) + 1e-5);
  }
  return y;
}

// Element i of a head with element i + dim / 2, by the angles of the tables.
inline void rotate(double* head, std::size_t dim, const double* cos, const double* sin) {
  for (std::size_t i = 0; i < dim / 2; ++i) {
    const double a = head[i], b = head[i + dim / 2];
    head[i] = a * cos[i] - b * sin[i];
    head[i + dim / 2] = b * cos[i] + a * sin[i];
  }
}

// The row of O of one query of one head: keys 0 to `query`.
inline void attend(double* o, const double* q, const double* k, const double* v, std::size_t keys, std::size_t dim,
                   std::size_t stride) {
  std::vector<double> p(keys);
  double largest = -1e300, sum = 0;
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t x = 0; x < dim; ++x) p[j] += q[x] * k[j * stride + x] / std::sqrt(double(dim));
    largest = std::max(largest, p[j]);
  }
  for (double& x : p) sum += x = std::exp(x - largest);
  for (std::size_t j = 0; j < keys; ++j)
    for (std::size_t x = 0; x < dim; ++x) o[x] += p[j] / sum * v[j * stride + x];
}

struct reference_weights {
  matrix norm_1, qkv, out, norm_2, gate, up, down, cos, sin;
};

inline matrix reference_layer(const matrix& given, const reference_weights& w, std::size_t tokens, std::size_t heads,
                              std::size_t kv_heads, std::size_t dim) {
  const std::size_t model = w.norm_1.size(), all = heads + 2 * kv_heads, stride = all * dim;
  matrix x = given, fused = multiply(normalise(x, w.norm_1), w.qkv, model), mixed(tokens * heads * dim);
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t h = 0; h < heads + kv_heads; ++h)
      rotate(&fused[t * stride + h * dim], dim, &w.cos[t * dim / 2], &w.sin[t * dim / 2]);
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t h = 0; h < heads; ++h) {
      const std::size_t kv = h / (heads / kv_heads);
      attend(&mixed[(t * heads + h) * dim], &fused[t * stride + h * dim], &fused[(heads + kv) * dim],
             &fused[(heads + kv_heads + kv) * dim], t + 1, dim, stride);
    }
  const matrix projected = multiply(mixed, w.out, heads * dim);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += projected[i];
  const matrix normed = normalise(x, w.norm_2), up = multiply(normed, w.up, model);
  matrix hidden = multiply(normed, w.gate, model);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= up[i] / (1 + std::exp(-hidden[i]));
  const matrix down = multiply(hidden, w.down, w.down.size() / model);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += down[i];
  return x;
}

}  // namespace layer_example
