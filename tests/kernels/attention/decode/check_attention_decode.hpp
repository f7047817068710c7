// SPDX-License-Identifier: MIT
// Runs attention_decode and compares with a computation in double precision.
#pragma once

#include "../../../max_error.hpp"

#include <tilewright/kernels/attention/decode/attention_decode.hpp>

#include <algorithm>
#include <numeric>

#include "../forward/check_attention_forward.hpp"

namespace attention_test {

/// What the scales of an 8-bit cache are of.
enum class scales_of { tensor, head, page, token };

/// A problem: lengths of each sequence's cache, heads, pages.
struct decode_problem {
  index_t heads = 1, kv_heads = 1, queries = 1;
  std::vector<index_t> keys;
  std::vector<index_t> own_queries;  // of each sequence, packed; empty: all have `queries`
  index_t rows_per_page = 0;         // 0: contiguous
  index_t gap = 0;                   // elements between rows of the cache, no numbers
  index_t splits = 1, shares = 0;
  attention_window window;
  scales_of scales = scales_of::head;
  int scale_octaves = 0;  // scales of an 8-bit cache range over this many powers of two
  float query_size = 1;   // elements of Q are that large; args.scale is divided by it
  bool has_sinks = false;
  bool is_latent = false;  // V is the first columns of K
  unsigned seed = 1;

  index_t queries_of(std::size_t batch) const { return own_queries.empty() ? queries : own_queries[batch]; }
};

template <class T>
std::vector<T> gaussian_values(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> gaussian;
  std::vector<T> values(count);
  for (T& x : values) x = T(gaussian(random));
  return values;
}

/// A cache: (page or sequence, row, head, dim), and scales of 8-bit elements. Rows that no key has are NaN, as are
/// their scales if each has its own.
template <class T>
struct key_cache {
  std::vector<T> values;
  std::vector<float> scales;
  attention_strides scale_strides;
  std::vector<index_t> table;  // pages of each sequence, in random order
  index_t stride = 0, rows = 0, heads, dim, row_elements;

  key_cache(const decode_problem& p, index_t head_dim, const std::vector<index_t>& pages, std::mt19937& random)
      : table(pages), heads(p.kv_heads), dim(head_dim), row_elements(heads * dim + p.gap) {
    const index_t longest = *std::max_element(p.keys.begin(), p.keys.end());
    rows = p.rows_per_page > 0 ? p.rows_per_page : longest;
    stride = p.rows_per_page > 0 ? (longest + rows - 1) / rows : 1;
    const std::size_t blocks = p.rows_per_page > 0 ? pages.size() : p.keys.size();
    values.assign(blocks * std::size_t(rows * row_elements), poison());
    set_scale_strides(p.scales);
    scales.assign(blocks * std::size_t(rows * heads), NAN);
    std::normal_distribution<float> gaussian;
    for (std::size_t b = 0; b < p.keys.size(); ++b) {
      for (index_t j = 0; j < p.keys[b]; ++j) {
        for (index_t h = 0; h < heads; ++h) {
          float& scale = scales[scale_at(b, j, h)];
          if (!(scale > 0)) scale = sizeof(T) == 1 ? quantum() * random_scale(p, random) : 1;
          for (index_t i = 0; i < dim; ++i)
            values[at(b, j, h) + std::size_t(i)] = type_convert<T>(gaussian(random) / (sizeof(T) == 1 ? quantum() : 1));
        }
      }
    }
  }
  static float random_scale(const decode_problem& p, std::mt19937& random) {
    const float mantissa = 0.5f + float(random() % 64) / 64;
    return p.scale_octaves == 0 ? mantissa : std::ldexp(mantissa, -int(random() % unsigned(p.scale_octaves)));
  }
  /// A unit of 8-bit elements, of which a few are the largest ones.
  static float quantum() { return std::is_same_v<T, int8_t> ? 1 / 40.0f : 1 / 160.0f; }
  static T poison() {
    if constexpr (std::is_same_v<T, int8_t>)
      return -128;
    else
      return T(std::numeric_limits<float>::quiet_NaN());
  }
  void set_scale_strides(scales_of of) {
    if (of == scales_of::head) scale_strides.head = 1;
    if (of == scales_of::page) scale_strides = {rows * heads, 1, 0};
    if (of == scales_of::token) scale_strides = {rows * heads, 1, heads};
  }
  std::size_t scale_at(std::size_t batch, index_t key, index_t head) const {
    return block_of(batch, key) * std::size_t(scale_strides.batch) + std::size_t(head * scale_strides.head) +
           std::size_t(key % rows) * std::size_t(scale_strides.row);
  }
  /// Element i of a key's head, with its scale.
  double value(std::size_t batch, index_t key, index_t head, index_t i) const {
    return double(float(values[at(batch, key, head) + std::size_t(i)])) * double(scales[scale_at(batch, key, head)]);
  }
  std::size_t block_of(std::size_t batch, index_t key) const {
    return table.empty() ? batch : std::size_t(table[batch * std::size_t(stride) + std::size_t(key / rows)]);
  }
  std::size_t at(std::size_t batch, index_t key, index_t head) const {
    return (block_of(batch, key) * std::size_t(rows) + std::size_t(key % rows)) * std::size_t(row_elements) +
           std::size_t(head * dim);
  }
  attention_strides strides() const { return {long_index_t(rows) * row_elements, dim, row_elements}; }
};

/// Pages of all sequences in random order, some of which belong to no sequence.
inline std::vector<index_t> random_pages(const decode_problem& p, std::mt19937& random) {
  if (p.rows_per_page == 0) return {};
  const index_t longest = *std::max_element(p.keys.begin(), p.keys.end());
  std::vector<index_t> pages(p.keys.size() * std::size_t((longest + p.rows_per_page - 1) / p.rows_per_page));
  std::iota(pages.begin(), pages.end(), 0);
  std::shuffle(pages.begin(), pages.end(), random);
  return pages;
}

/// Computes a problem by run(args, memories) and checks O and the log-sum-exp.
template <class Policy, class Run>
void expect_decode_by(Run run, const decode_problem& p, typename Policy::args_type args = {}) {
  using T = typename Policy::element_type;
  using Cache = typename Policy::cache_type;
  constexpr index_t dim = Policy::head_dim, value_dim = Policy::value_dim;
  const index_t batch = index_t(p.keys.size()), rows = p.queries * p.heads;
  std::mt19937 random(p.seed);
  std::vector<index_t> starts{0};  // of each sequence's queries
  for (std::size_t b = 0; b < p.keys.size(); ++b) starts.push_back(starts.back() + p.queries_of(b));
  const index_t all_queries = starts.back(), all_rows = all_queries * p.heads;
  std::vector<T> q = gaussian_values<T>(std::size_t(all_rows * dim), random);
  for (T& x : q) x = T(float(x) * p.query_size);
  const std::vector<float> sinks = random_sinks(p.heads, random);
  const std::vector<index_t> pages = random_pages(p, random);
  const key_cache<Cache> k(p, dim, pages, random), own_v(p, value_dim, pages, random);
  const key_cache<Cache>& v = p.is_latent ? k : own_v;
  std::vector<T> o(std::size_t(all_rows * value_dim), T(std::numeric_limits<float>::quiet_NaN()));
  std::vector<float> lse(std::size_t(all_rows), NAN);
  args.q = q.data();
  args.k = k.values.data();
  args.v = v.values.data();
  args.o = o.data();
  args.lse = lse.data();
  args.batch = batch;
  args.heads = p.heads;
  args.kv_heads = p.kv_heads;
  args.queries = p.queries;
  args.keys = *std::max_element(p.keys.begin(), p.keys.end());
  args.q_strides = {long_index_t(rows) * dim, dim, p.heads * dim};
  args.o_strides = {long_index_t(rows) * value_dim, value_dim, p.heads * value_dim};
  args.k_strides = k.strides();
  args.v_strides = v.strides();
  args.lse_strides = {rows, 1, p.heads};
  args.scale = 0.125f / p.query_size;
  args.window = p.window;
  args.key_counts = p.keys.data();
  if (!p.own_queries.empty()) args.query_starts = starts.data();
  if (p.has_sinks) args.sinks = sinks.data();
  if (sizeof(Cache) == 1) {
    args.k_scales = k.scales.data();
    args.v_scales = v.scales.data();
    args.k_scale_strides = k.scale_strides;
    args.v_scale_strides = v.scale_strides;
  }
  if (p.rows_per_page > 0) {
    args.block_table = k.table.data();
    args.table_stride = k.stride;
    args.rows_per_page = p.rows_per_page;
  }
  args.splits = p.splits;
  args.shares = p.shares;
  std::vector<float> workspace(std::size_t(workspace_bytes(args, value_dim) / 4), NAN);
  args.workspace = workspace.data();
  run(args, std::vector<memory>{memory_of(q), memory_of(k.values), memory_of(v.values), memory_of(o), memory_of(lse),
                                memory_of(p.keys), memory_of(k.table), memory_of(workspace), memory_of(starts),
                                memory_of(sinks), memory_of(k.scales), memory_of(v.scales)});

  // AMD GPUs multiply an 8-bit cache by P as bfloat16_t.
  const bool rounds_p = sizeof(Cache) == 1 && detail::is_amd_v<typename Policy::arch>;
  const double unit = std::is_same_v<T, bfloat16_t> || rounds_p ? 0x1p-8 : 0x1p-11;
  const auto as_doubles = [](auto value_of, index_t count, index_t width) {
    doubles result;
    for (index_t i = 0; i < count * width; ++i) result.push_back(double(value_of(i / width, i % width)));
    return result;
  };
  for (index_t b = 0; b < batch; ++b) {
    for (index_t head = 0; head < p.heads; ++head) {
      const index_t kv = head / (p.heads / p.kv_heads), keys = p.keys[std::size_t(b)],
                    queries = p.queries_of(std::size_t(b));
      const auto row_of = [&](index_t query) { return std::size_t((starts[std::size_t(b)] + query) * p.heads + head); };
      const auto in_cache = [&](const key_cache<Cache>& cache) {
        return [&](index_t j, index_t d) { return cache.value(std::size_t(b), j, kv, d); };
      };
      const head_results wanted = reference_head<Policy>(
          args, {b, head, 0, 0}, queries, keys,
          as_doubles([&](index_t i, index_t d) { return float(q[row_of(i) * dim + std::size_t(d)]); }, queries, dim),
          as_doubles(in_cache(k), keys, dim), as_doubles(in_cache(v), keys, value_dim));
      for (index_t i = 0; i < queries; ++i) {
        double worst = 0;
        for (index_t d = 0; d < value_dim; ++d) {
          const double error = std::abs(double(float(o[row_of(i) * value_dim + std::size_t(d)])) -
                                        wanted.o[std::size_t(i * value_dim + d)]);
          worst = max_error(worst, error);
        }
        EXPECT_LT(worst, 6 * unit) << "sequence " << b << ", query " << i << ", head " << head;
        const double got = double(lse[row_of(i)]), wanted_lse = wanted.lse[std::size_t(i)];
        EXPECT_TRUE(got == wanted_lse || std::abs(got - wanted_lse) < 1e-4) << got << " instead of " << wanted_lse;
      }
    }
  }
}

/// On the CPU emulator, which refuses accesses to other memory.
template <class Policy>
void expect_decode(const decode_problem& p, typename Policy::args_type args = {}) {
  expect_decode_by<Policy>(
      [](const auto& a, const auto&) { launch<attention_decode<Policy>>(a, {.check_lds = emulator::lds_checks::on}); },
      p, args);
}

}  // namespace attention_test
