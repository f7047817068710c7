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

// Tiles of 16 queries and keys: heads 0 and 1 see tiles 0 and 2 of the first sequence, heads 2 and 3 tile 1; all see
// tile 2 of the second.
TEST(Attention, SeesTheTilesOfABlockMask) {
  const on_gpu<half_t> q({batch, queries, heads, dim}, 1), k({batch, keys, kv_heads, dim}, 2),
      v({batch, keys, kv_heads, dim}, 3);
  on_gpu<half_t> o({batch, queries, heads, dim});
  on_gpu<int> mask({batch, heads, 1, 2});
  mask.data = {5, 0, 5, 0, 2, -1, 2, 0, 4, 0, 4, -1, 4, 0, 4, 0};
  mask.upload();
  tw::attention(o, q, k, v, {.block_mask = mask, .mask_queries = 16, .mask_keys = 16});
  o.download();
  for (int b = 0; b < batch; ++b)
    for (int h = 0; h < heads; ++h) {
      const int tiles = mask.data[std::size_t((b * heads + h) * 2)];
      for (int i = 0; i < queries; ++i) {
        double sum = 0, result[dim] = {};
        for (int j = 0; j < keys; ++j) {
          if (!(tiles >> j / 16 & 1)) continue;
          const auto of_key = std::size_t(((b * keys + j) * kv_heads + h / 2) * dim),
                     of_query = std::size_t(((b * queries + i) * heads + h) * dim);
          double score = 0;
          for (std::size_t x = 0; x < dim; ++x)
            score += double(float(q.data[of_query + x])) * double(float(k.data[of_key + x]));
          const double p = std::exp(score / std::sqrt(double(dim)));
          sum += p;
          for (std::size_t x = 0; x < dim; ++x) result[x] += p * double(float(v.data[of_key + x]));
        }
        for (int x = 0; x < dim; x += 3)
          ASSERT_NEAR(double(float(o.data[std::size_t(((b * queries + i) * heads + h) * dim + x)])), result[x] / sum,
                      3e-3)
              << b << ", " << h << ", " << i << ", " << x;
      }
    }
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

// Two sequences of one and three queries, a cache of int8 with a scale for each token, and a sink for each head.
TEST(Attention, DecodesAnEightBitCacheOfSequencesWithDifferentQueries) {
  constexpr int rows = 16, pages = 4, starts[] = {0, 1, 4}, lengths[] = {20, 30};
  const on_gpu<half_t> q({4, heads, dim}, 1);
  on_gpu<half_t> o({4, heads, dim});
  on_gpu<tilewright::int8_t> k({pages, rows, kv_heads, dim}), v({pages, rows, kv_heads, dim});
  on_gpu<float> k_scales({pages, rows, kv_heads}), v_scales({pages, rows, 1}), sinks({heads});
  for (std::size_t i = 0; i < k.data.size(); ++i) {
    k.data[i] = tilewright::int8_t(int(i * 37 % 255) - 127);
    v.data[i] = tilewright::int8_t(int(i * 91 % 255) - 127);
  }
  for (std::size_t i = 0; i < k_scales.data.size(); ++i) k_scales.data[i] = 0.005f + 0.001f * float(i % 7);
  for (std::size_t i = 0; i < v_scales.data.size(); ++i) v_scales.data[i] = 0.01f + 0.002f * float(i % 5);
  sinks.data = {1.5f, -2, 0.5f, 3};
  on_gpu<int> table({2, 2}), counts({2}), query_starts({3});
  table.data = {2, 0, 3, 1}, counts.data = {lengths[0], lengths[1]}, query_starts.data = {0, 1, 4};
  k.upload(), v.upload(), k_scales.upload(), v_scales.upload(), sinks.upload();
  table.upload(), counts.upload(), query_starts.upload();
  tw::attention_decode(o, q, k, v,
                       {.causal = true,
                        .key_counts = counts,
                        .block_table = table,
                        .query_starts = query_starts,
                        .max_queries = 3,
                        .k_scales = k_scales,
                        .v_scales = v_scales,
                        .sinks = sinks});
  o.download();
  for (int b = 0; b < 2; ++b)
    for (int i = starts[b]; i < starts[b + 1]; ++i)
      for (int h = 0; h < heads; ++h) {
        const int kv = h / (heads / kv_heads), seen = lengths[b] - (starts[b + 1] - 1 - i);
        double sum = std::exp(double(sinks.data[std::size_t(h)])), result[dim] = {};
        for (int j = 0; j < seen; ++j) {
          const int row = table.data[std::size_t(b * 2 + j / rows)] * rows + j % rows, at = (row * kv_heads + kv) * dim;
          double score = 0;
          for (int x = 0; x < dim; ++x)
            score += double(float(q.data[std::size_t((i * heads + h) * dim + x)])) * k.data[std::size_t(at + x)];
          const double p =
              std::exp(score * double(k_scales.data[std::size_t(row * kv_heads + kv)]) / std::sqrt(double(dim)));
          sum += p;
          for (int x = 0; x < dim; ++x)
            result[x] += p * v.data[std::size_t(at + x)] * double(v_scales.data[std::size_t(row)]);
        }
        for (int x = 0; x < dim; x += 3)
          ASSERT_NEAR(double(float(o.data[std::size_t((i * heads + h) * dim + x)])), result[x] / sum, 1.5e-2)
              << b << ", " << i << ", " << h << ", " << x;
      }
}

TEST(Attention, DecodesValuesThatAreTheFirstColumnsOfKeys) {
  const on_gpu<half_t> q({1, 1, heads, 2 * dim}, 1), k({1, keys, 1, 2 * dim}, 2);
  on_gpu<half_t> v({1, keys, 1, dim}), o({1, 1, heads, dim}), wanted({1, 1, heads, dim});
  for (std::size_t i = 0; i < v.data.size(); ++i) v.data[i] = k.data[i / dim * 2 * dim + i % dim];
  v.upload();
  tw::attention_decode(wanted, q, k, v);
  const tw::tensor first_columns =
      tw::strided(k.view.data, tw::element::f16, {1, keys, 1, dim}, {keys * 2 * dim, 2 * dim, 2 * dim, 1});
  tw::attention_decode(o, q, k, first_columns);
  EXPECT_EQ(o.download(), wanted.download());
}

TEST(Attention, GradientOfVIsWhatQueriesWeigh) {
  // With equal scores each key has the same weight, and so has a sink of score zero: dV is the mean of dO over keys and
  // sink, summed over the heads that share it.
  on_gpu<half_t> q({1, queries, heads, dim}, 1), dq({1, queries, heads, dim}), dk({1, keys, kv_heads, dim}),
      dv({1, keys, kv_heads, dim});
  const on_gpu<half_t> k({1, keys, kv_heads, dim}, 2), v({1, keys, kv_heads, dim}, 3), d_o({1, queries, heads, dim}, 4);
  on_gpu<half_t> o({1, queries, heads, dim});
  const on_gpu<float> lse({1, queries, heads});
  for (half_t& x : q.data) x = half_t(0);
  q.upload();
  on_gpu<float> sinks({heads}), d_sinks({heads});
  sinks.data = {0, 0, 0, 0};
  sinks.upload();
  tw::attention_options options{.lse = lse, .sinks = sinks};
  tw::attention(o, q, k, v, options);
  options.d_sinks = d_sinks;
  tw::attention_backward(dq, dk, dv, d_o, q, k, v, o, options);
  dv.download(), d_sinks.download(), o.download();
  for (int j = 0; j < keys; j += 7)
    for (int h = 0; h < kv_heads; ++h)
      for (int x = 0; x < dim; ++x) {
        double sum = 0;
        for (int i = 0; i < queries; ++i)
          for (int g = 0; g < heads / kv_heads; ++g)
            sum += double(float(d_o.data[std::size_t((i * heads + h * (heads / kv_heads) + g) * dim + x)]));
        ASSERT_NEAR(double(float(dv.data[std::size_t((j * kv_heads + h) * dim + x)])), sum / (keys + 1), 2e-3)
            << j << ", " << x;
      }
  for (int h = 0; h < heads; ++h) {
    double sum = 0;
    for (int i = 0; i < queries; ++i)
      for (int x = 0; x < dim; ++x) {
        const auto at = std::size_t((i * heads + h) * dim + x);
        sum -= double(float(o.data[at])) * double(float(d_o.data[at])) / (keys + 1);
      }
    EXPECT_NEAR(double(d_sinks.data[std::size_t(h)]), sum, 1e-3) << h;
  }
}

}  // namespace
