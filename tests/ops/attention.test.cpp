// SPDX-License-Identifier: MIT
#include <tilewright/ops/attention.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::on_gpu;
using tilewright::half_t;

constexpr int batch = 2, queries = 5, keys = 40, heads = 4, kv_heads = 2, dim = 32;

/// O of (batch, queries, heads, dim) in double precision; key_of(b, j): the row of K and V.
template <class KeyOf>
void expect_attention(const on_gpu<half_t>& o, const on_gpu<half_t>& q, const on_gpu<half_t>& k,
                      const on_gpu<half_t>& v, bool causal, KeyOf key_of) {
  const auto get = [](const on_gpu<half_t>& t, int row, int head, int count, int x) {
    return double(float(t.data[std::size_t((row * count + head) * dim + x)]));
  };
  for (int b = 0; b < batch; ++b)
    for (int i = 0; i < queries; ++i)
      for (int h = 0; h < heads; ++h) {
        const int seen = causal ? keys - queries + i + 1 : keys, kv = h / (heads / kv_heads), row = b * queries + i;
        double sum = 0, result[dim] = {};
        for (int j = 0; j < seen; ++j) {
          double score = 0;
          for (int x = 0; x < dim; ++x) score += get(q, row, h, heads, x) * get(k, key_of(b, j), kv, kv_heads, x);
          const double p = std::exp(score / std::sqrt(double(dim)));
          sum += p;
          for (int x = 0; x < dim; ++x) result[x] += p * get(v, key_of(b, j), kv, kv_heads, x);
        }
        for (int x = 0; x < dim; x += 3)
          ASSERT_NEAR(get(o, row, h, heads, x), result[x] / sum, 3e-3) << b << ", " << i << ", " << h << ", " << x;
      }
}

TEST(Attention, OfABatchWithSharedKeyHeads) {
  const on_gpu<half_t> q({batch, queries, heads, dim}, 1), k({batch, keys, kv_heads, dim}, 2),
      v({batch, keys, kv_heads, dim}, 3);
  on_gpu<half_t> o({batch, queries, heads, dim});
  const auto dense = [](int b, int j) { return b * keys + j; };
  tw::attention(o, q, k, v, {.causal = true});
  o.download();
  expect_attention(o, q, k, v, true, dense);
  tw::attention_decode(o, q, k, v);
  o.download();
  expect_attention(o, q, k, v, false, dense);
}

TEST(Attention, DecodesAPagedCache) {
  constexpr int rows = 16, pages = 8, of_sequence = 3;
  const on_gpu<half_t> q({batch, queries, heads, dim}, 1), k({pages, rows, kv_heads, dim}, 2),
      v({pages, rows, kv_heads, dim}, 3);
  on_gpu<half_t> o({batch, queries, heads, dim});
  on_gpu<int> table({batch, of_sequence}), counts({batch});
  table.data = {5, 0, 7, 2, 6, 1};
  counts.data = {keys, keys};
  table.upload(), counts.upload();
  tw::attention_decode(o, q, k, v, {.key_counts = counts, .block_table = table});
  o.download();
  expect_attention(o, q, k, v, false,
                   [&](int b, int j) { return table.data[std::size_t(b * of_sequence + j / rows)] * rows + j % rows; });
}

TEST(Attention, GradientOfVIsWhatQueriesWeigh) {
  // With equal scores each key has the same weight: dV is the mean of dO over keys, summed over the heads that share
  // it.
  on_gpu<half_t> q({1, queries, heads, dim}, 1), dq({1, queries, heads, dim}), dk({1, keys, kv_heads, dim}),
      dv({1, keys, kv_heads, dim});
  const on_gpu<half_t> k({1, keys, kv_heads, dim}, 2), v({1, keys, kv_heads, dim}, 3), d_o({1, queries, heads, dim}, 4);
  on_gpu<half_t> o({1, queries, heads, dim});
  const on_gpu<float> lse({1, queries, heads});
  for (half_t& x : q.data) x = half_t(0);
  q.upload();
  const tw::attention_options options{.lse = lse};
  tw::attention(o, q, k, v, options);
  tw::attention_backward(dq, dk, dv, d_o, q, k, v, o, options);
  dv.download();
  for (int j = 0; j < keys; j += 7)
    for (int h = 0; h < kv_heads; ++h)
      for (int x = 0; x < dim; ++x) {
        double sum = 0;
        for (int i = 0; i < queries; ++i)
          for (int g = 0; g < heads / kv_heads; ++g)
            sum += double(float(d_o.data[std::size_t((i * heads + h * (heads / kv_heads) + g) * dim + x)]));
        ASSERT_NEAR(double(float(dv.data[std::size_t((j * kv_heads + h) * dim + x)])), sum / keys, 2e-3)
            << j << ", " << x;
      }
}

}  // namespace
