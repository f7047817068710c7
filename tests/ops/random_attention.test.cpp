// SPDX-License-Identifier: MIT
// Random problems of attention, its gradients and decoding over the options of the calls, against double precision:
// types, lengths, heads, windows, sinks, block masks, caches, pages, scales, and orders of dimensions in memory.
#include <tilewright/ops/attention.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>

#include <tilewright/jit/archive.hpp>
#include <tilewright/jit/attention.hpp>

#include <unistd.h>

#include "../max_error.hpp"
#include "guarded_tensor.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::guarded_tensor;
using tilewright::long_index_t;

class choices {
 public:
  std::mt19937 random;
  explicit choices(unsigned seed) : random(seed) {}
  int up_to(int last) { return int(random() % unsigned(last + 1)); }
  bool one_in(int n) { return random() % unsigned(n) == 0; }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[random() % values.size()];
  }
  float gaussian() { return std::normal_distribution<float>()(random); }
};

/// Rows of one head in double precision.
struct matrix {
  int columns;
  std::vector<double> values;
  double operator()(int row, int column) const { return values[std::size_t(row * columns + column)]; }
  double& operator()(int row, int column) { return values[std::size_t(row * columns + column)]; }
};
matrix zeros(int rows, int columns) { return {columns, std::vector<double>(std::size_t(rows * columns))}; }
double dot(const matrix& x, int row, const matrix& y, int other) {
  double sum = 0;
  for (int d = 0; d < x.columns; ++d) sum += x(row, d) * y(other, d);
  return sum;
}

struct problem {
  tw::element type = tw::element::f16;
  int kv_heads = 1, heads = 1, dim = 32, value_dim = 32;
  std::vector<int> queries, keys;  // of each sequence
  double scale = 0;
  bool is_causal = false;
  int left = -1, right = -1;
  std::vector<float> sinks;                           // of each head; empty: none
  std::function<bool(int, int, int, int)> mask = {};  // of sequence, head, query and key; empty: none

  int batch() const { return int(queries.size()); }
  int kv_of(int head) const { return head / (heads / kv_heads); }
  double unit() const { return type == tw::element::bf16 ? 0x1p-8 : 0x1p-11; }
  bool sees(int b, int h, int i, int j) const {
    const int own = i + keys[std::size_t(b)] - queries[std::size_t(b)];
    if (left >= 0 && j < own - left) return false;
    if (is_causal ? j > own : right >= 0 && j > own + right) return false;
    return !mask || mask(b, h, i, j);
  }
};

/// Probabilities of a head (queries x keys), O, and the log-sum-exp of each query.
struct head_result {
  matrix p, o;
  std::vector<double> lse;
  double largest_value;  // of V
};
head_result attend(const problem& p, int b, int h, const matrix& q, const matrix& k, const matrix& v) {
  const int queries = p.queries[std::size_t(b)], keys = p.keys[std::size_t(b)];
  head_result r{zeros(queries, keys), zeros(queries, p.value_dim), {}, 0};
  for (const double x : v.values) r.largest_value = std::max(r.largest_value, std::abs(x));
  for (int i = 0; i < queries; ++i) {
    double sum = p.sinks.empty() ? 0 : std::exp(double(p.sinks[std::size_t(h)]));
    for (int j = 0; j < keys; ++j)
      if (p.sees(b, h, i, j)) sum += r.p(i, j) = std::exp(p.scale * dot(q, i, k, j));
    r.lse.push_back(std::log(sum));
    for (int j = 0; j < keys; ++j) {
      if (r.p(i, j) == 0) continue;
      r.p(i, j) /= sum;
      for (int d = 0; d < p.value_dim; ++d) r.o(i, d) += r.p(i, j) * v(j, d);
    }
  }
  return r;
}

/// What dQ, dK, dV and the sink's gradient are, added to those of other heads, and the largest term of the first two.
struct head_gradient {
  matrix d_q, d_k, d_v;
  double d_sink = 0, term = 0;
};
void differentiate(head_gradient& g, const problem& p, const head_result& of, const matrix& q, const matrix& k,
                   const matrix& v, const matrix& d_o) {
  for (int i = 0; i < int(of.lse.size()); ++i) {
    double mean = 0;  // of dP, weighted by P; a sink's is 0
    for (int j = 0; j < of.p.columns; ++j) mean += of.p(i, j) * dot(d_o, i, v, j);
    double seen = 0, squares = 0, largest_key = 0;
    for (int d = 0; d < p.value_dim; ++d) squares += std::pow(d_o(i, d) * of.o(i, d), 2);
    for (int j = 0; j < of.p.columns; ++j) {
      seen += of.p(i, j);
      if (of.p(i, j) == 0) continue;
      const double d_p = dot(d_o, i, v, j), d_s = of.p(i, j) * (d_p - mean) * p.scale;
      double largest = 0;
      for (int d = 0; d < p.dim; ++d) {
        g.d_q(i, d) += d_s * k(j, d);
        g.d_k(j, d) += d_s * q(i, d);
        largest = std::max({largest, std::abs(q(i, d)), std::abs(k(j, d))});
      }
      largest_key = std::max(largest_key, largest);
      for (int d = 0; d < p.value_dim; ++d) g.d_v(j, d) += of.p(i, j) * d_o(i, d);
      g.term = std::max(g.term, of.p(i, j) * (std::abs(d_p) + std::abs(mean)) * p.scale * largest);
    }
    // O was rounded, and with it the mean, which counts in all terms of the row.
    g.term = std::max(g.term, 2 * std::sqrt(squares) * p.scale * largest_key);
    if (!p.sinks.empty()) g.d_sink -= (1 - seen) * mean;
  }
}

/// A tensor of rows of heads: (batch, rows, heads, columns), or (rows, heads, columns) of all sequences.
struct head_rows {
  guarded_tensor tensor;
  std::vector<int> first_row;  // of each sequence; empty: there is a batch

  void create(tw::element type, const std::vector<int>& lengths, bool is_packed, int heads, int columns, choices& c) {
    long_index_t all = 0, longest = 1;
    for (const int length : lengths) {
      if (is_packed) first_row.push_back(int(all));
      all += length, longest = std::max<long_index_t>(longest, length);
    }
    ops_test::indices dims{long_index_t(lengths.size()), longest, heads};
    if (is_packed) dims = {std::max<long_index_t>(all, 1), heads};
    if (columns > 0) dims.push_back(columns);
    tensor.create(type, dims, columns > 0, columns > 0 ? 8 : 1, c.random);
  }
  ops_test::indices at(int b, int row, int head) const {
    if (first_row.empty()) return {b, row, head};
    return {first_row[std::size_t(b)] + row, head};
  }
  ops_test::indices at(int b, int row, int head, int column) const {
    ops_test::indices result = at(b, row, head);
    result.push_back(column);
    return result;
  }
  /// Random elements, or those that kernels write.
  void fill(const std::vector<int>& lengths, int heads, int columns, choices* c) {
    for (int b = 0; b < int(lengths.size()); ++b)
      for (int row = 0; row < lengths[std::size_t(b)]; ++row)
        for (int h = 0; h < heads; ++h)
          for (int d = 0; d < columns; ++d)
            if (c)
              tensor.set(at(b, row, h, d), c->gaussian());
            else
              tensor.set_result(at(b, row, h, d));
  }
  matrix rows(int b, int head, int count, int columns) const {
    matrix m = zeros(count, columns);
    for (int row = 0; row < count; ++row)
      for (int d = 0; d < columns; ++d) m(row, d) = tensor.get(at(b, row, head, d));
    return m;
  }
};

void set_numbers(guarded_tensor& t, const std::vector<int>& numbers, choices& c) {
  t.create(tw::element::i32, {long_index_t(numbers.size())}, 1, 1, c.random);
  for (std::size_t i = 0; i < numbers.size(); ++i) t.set_word({long_index_t(i)}, numbers[i]);
}
std::vector<int> starts_of(const std::vector<int>& lengths) {
  std::vector<int> starts{0};
  for (const int length : lengths) starts.push_back(starts.back() + length);
  return starts;
}
int longest(const std::vector<int>& lengths) { return *std::max_element(lengths.begin(), lengths.end()); }

/// What forward, gradients and decoding have in common.
struct attention_case {
  problem p;
  bool is_packed = false;
  head_rows q, o, lse;
  guarded_tensor query_starts, sinks;

  void choose(choices& c, bool is_long) {
    if (is_long && c.one_in(2)) p.type = tw::element::bf16;
    p.kv_heads = 1 + c.up_to(1), p.heads = p.kv_heads * (1 + c.up_to(2));
    p.is_causal = c.one_in(3);
    if (c.one_in(3)) p.left = c.up_to(60);
    p.scale = c.one_in(2) ? 0 : 0.03 + 0.02 * c.up_to(10);
    if (c.one_in(3))
      for (int h = 0; h < p.heads; ++h) p.sinks.push_back(h == 3 ? -INFINITY : 0.01f * float(c.up_to(900)) - 4);
  }
  void create(choices& c, bool has_lse) {
    q.create(p.type, p.queries, is_packed, p.heads, p.dim, c);
    q.fill(p.queries, p.heads, p.dim, &c);
    o.create(p.type, p.queries, is_packed, p.heads, p.value_dim, c);
    if (has_lse) lse.create(tw::element::f32, p.queries, is_packed, p.heads, 0, c);
    if (is_packed) set_numbers(query_starts, starts_of(p.queries), c);
    if (p.sinks.empty()) return;
    sinks.create(tw::element::f32, {p.heads}, 1, 1, c.random);
    for (int h = 0; h < p.heads; ++h) sinks.set({h}, double(p.sinks[std::size_t(h)]));
  }
  /// O and the log-sum-exp are results.
  void set_results() {
    o.fill(p.queries, p.heads, p.value_dim, nullptr);
    for_heads([&](int b, int h) {
      for (int i = 0; lse.tensor.view.data && i < p.queries[std::size_t(b)]; ++i)
        lse.tensor.set_result(lse.at(b, i, h));
    });
  }
  template <class F>
  void for_heads(F f) const {
    for (int b = 0; b < p.batch(); ++b)
      for (int h = 0; h < p.heads; ++h) f(b, h);
  }
  /// Of the call; afterwards the scale is the number that a default of 0 stands for.
  template <class Options>
  void set(Options& options) {
    options.scale = float(p.scale), options.causal = p.is_causal, options.window_left = p.left;
    p.scale = p.scale > 0 ? double(options.scale) : 1 / std::sqrt(double(p.dim));
    options.lse = lse.tensor.view, options.sinks = sinks.view;
    options.query_starts = query_starts.view;
    if (is_packed) options.max_queries = longest(p.queries);
  }
  void expect_outputs(int b, int h, const head_result& wanted, double unit) const {
    double worst = 0, worst_lse = 0;
    for (int i = 0; i < p.queries[std::size_t(b)]; ++i) {
      for (int d = 0; d < p.value_dim; ++d)
        worst = max_error(worst, std::abs(o.tensor.get(o.at(b, i, h, d)) - wanted.o(i, d)));
      if (!lse.tensor.view.data) continue;
      const double got = lse.tensor.get(lse.at(b, i, h)), lse_wanted = wanted.lse[std::size_t(i)];
      worst_lse = max_error(worst_lse, got == lse_wanted ? 0 : std::abs(got - lse_wanted));
    }
    // P and O are rounded by up to a unit each.
    EXPECT_LE(worst, unit * (0.25 + 2 * wanted.largest_value)) << "O of sequence " << b << ", head " << h;
    EXPECT_LT(worst_lse, 2e-4) << "log-sum-exp of sequence " << b << ", head " << h;
  }
};

/// Of Q and K, and of V; the small ones more often.
const std::vector<std::pair<int, int>> head_dims = {{32, 32},   {64, 64},   {64, 64},   {96, 96},
                                                    {128, 128}, {128, 128}, {192, 128}, {32, 64},
                                                    {256, 256}, {384, 384}, {512, 512}};

/// attention, and its gradients.
struct self_attention : attention_case {
  head_rows k, v, d_o, d_q, d_k, d_v;
  guarded_tensor key_starts, block_mask, d_sinks;
  tw::attention_options options;

  self_attention(choices& c, bool is_long, bool of_gradients) {
    choose(c, is_long);
    if (is_long) {
      const auto dims = c.one_of(head_dims);
      p.dim = dims.first > 256 && of_gradients ? 160 : dims.first;
      p.value_dim = dims.first > 256 && of_gradients ? 160 : dims.second;
    }
    if (c.one_in(3)) p.right = p.is_causal ? 0 : c.up_to(40);
    is_packed = c.one_in(2);
    const int most = c.one_in(4) ? 200 : 40;
    for (int b = c.up_to(2); b >= 0; --b) {
      const bool is_first = p.queries.empty() || is_packed;
      p.queries.push_back(is_first ? c.up_to(most - 1) + !(is_packed && c.one_in(6)) : p.queries[0]);
      p.keys.push_back(is_first ? c.one_in(8) && is_packed ? 0 : 1 + c.up_to(most - 1) : p.keys[0]);
    }
    p.queries[0] = std::max(p.queries[0], 1), p.keys[0] = std::max(p.keys[0], 1);
    create(c, of_gradients || c.one_in(2));
    for (auto* t : {&k, &v}) {
      const int columns = t == &k ? p.dim : p.value_dim;
      t->create(p.type, p.keys, is_packed, p.kv_heads, columns, c);
      t->fill(p.keys, p.kv_heads, columns, &c);
    }
    if (is_packed) set_numbers(key_starts, starts_of(p.keys), c);
    if (c.one_in(2)) create_mask(c);
    set(options);
    options.window_right = p.right;
    options.key_starts = key_starts.view, options.block_mask = block_mask.view;
    if (is_packed) options.max_keys = longest(p.keys);
  }
  void create_mask(choices& c) {
    const int tile_queries = options.mask_queries = 16 << c.up_to(3), tile_keys = options.mask_keys = 16 << c.up_to(3);
    const int rows = (longest(p.queries) + tile_queries - 1) / tile_queries,
              tiles = (longest(p.keys) + tile_keys - 1) / tile_keys, words = (tiles + 31) / 32 + c.up_to(1),
              sequences = c.one_in(2) ? p.batch() : 1, heads = c.one_in(2) ? p.heads : 1, density = 2 + c.up_to(3);
    block_mask.create(tw::element::i32, {sequences, heads, rows, words}, 1, 1, c.random);
    auto seen = std::make_shared<std::vector<bool>>();
    for (int i = 0; i < sequences * heads * rows * words * 32; ++i) seen->push_back(c.one_in(density));
    for (int i = 0; i < sequences * heads * rows * words; ++i) {
      unsigned word = 0;
      for (unsigned bit = 0; bit < 32; ++bit) word += unsigned((*seen)[std::size_t(i) * 32 + bit]) << bit;
      block_mask.set_word({i / (heads * rows * words), i / (rows * words) % heads, i / words % rows, i % words},
                          int(word));
    }
    p.mask = [=](int b, int h, int i, int j) {
      const int row = ((sequences > 1 ? b : 0) * heads + (heads > 1 ? h : 0)) * rows + i / tile_queries;
      return (*seen)[std::size_t(row * words * 32 + j / tile_keys)];
    };
  }
  head_result wanted(int b, int h) const {
    const int keys = p.keys[std::size_t(b)], kv = p.kv_of(h);
    return attend(p, b, h, q.rows(b, h, p.queries[std::size_t(b)], p.dim), k.rows(b, kv, keys, p.dim),
                  v.rows(b, kv, keys, p.value_dim));
  }
  void upload() {
    for (auto* t : {&q, &k, &v, &o, &lse, &d_o, &d_q, &d_k, &d_v}) t->tensor.upload();
    for (auto* t : {&query_starts, &key_starts, &sinks, &block_mask, &d_sinks}) t->upload();
  }
  void download() {
    for (auto [t, name] : {std::pair{&q, "q"},
                           {&k, "k"},
                           {&v, "v"},
                           {&o, "o"},
                           {&lse, "lse"},
                           {&d_o, "d_o"},
                           {&d_q, "dq"},
                           {&d_k, "dk"},
                           {&d_v, "dv"}})
      t->tensor.download(name);
    for (auto [t, name] : {std::pair{&query_starts, "query_starts"},
                           {&key_starts, "key_starts"},
                           {&sinks, "sinks"},
                           {&block_mask, "block_mask"},
                           {&d_sinks, "d_sinks"}})
      t->download(name);
  }

  void expect_forward() {
    set_results();
    upload();
    tw::attention(o.tensor.view, q.tensor.view, k.tensor.view, v.tensor.view, options);
    download();
    for_heads([&](int b, int h) { expect_outputs(b, h, wanted(b, h), p.unit()); });
  }

  void create_gradients(choices& c) {
    d_o.create(p.type, p.queries, is_packed, p.heads, p.value_dim, c);
    d_o.fill(p.queries, p.heads, p.value_dim, &c);
    d_q.create(p.type, p.queries, is_packed, p.heads, p.dim, c);
    d_q.fill(p.queries, p.heads, p.dim, nullptr);
    d_k.create(p.type, p.keys, is_packed, p.kv_heads, p.dim, c);
    d_k.fill(p.keys, p.kv_heads, p.dim, nullptr);
    d_v.create(p.type, p.keys, is_packed, p.kv_heads, p.value_dim, c);
    d_v.fill(p.keys, p.kv_heads, p.value_dim, nullptr);
    if (p.sinks.empty()) return;
    d_sinks.create(tw::element::f32, {p.heads}, 1, 1, c.random);
    for (int h = 0; h < p.heads; ++h) d_sinks.set_result({h});
    options.d_sinks = d_sinks.view;
  }
  void expect_near(const head_rows& got, int b, int head, const matrix& wanted_rows, double term,
                   const char* name) const {
    double largest = 1e-3, worst = 0;
    const int count = int(wanted_rows.values.size()) / wanted_rows.columns;
    for (int i = 0; i < count; ++i)
      for (int d = 0; d < wanted_rows.columns; ++d) {
        worst = max_error(worst, std::abs(got.tensor.get(got.at(b, i, head, d)) - wanted_rows(i, d)));
        largest = std::max(largest, std::abs(wanted_rows(i, d)));
      }
    EXPECT_LT(worst, p.unit() * (4 * largest + term)) << name << " of sequence " << b << ", head " << head;
  }
  /// With O and the log-sum-exp of the oracle, rounded.
  void expect_gradients(choices& c) {
    create_gradients(c);
    std::vector<double> d_sinks_wanted(std::size_t(p.heads));
    std::vector<head_gradient> of_keys;
    for_heads([&](int b, int h) {
      const int queries = p.queries[std::size_t(b)], keys = p.keys[std::size_t(b)], kv = p.kv_of(h);
      const head_result r = wanted(b, h);
      for (int i = 0; i < queries; ++i) {
        lse.tensor.set(lse.at(b, i, h), r.lse[std::size_t(i)]);
        for (int d = 0; d < p.value_dim; ++d) o.tensor.set(o.at(b, i, h, d), r.o(i, d));
      }
      if (h % (p.heads / p.kv_heads) == 0) of_keys.push_back({{}, zeros(keys, p.dim), zeros(keys, p.value_dim)});
      of_keys.back().d_q = zeros(queries, p.dim);
      differentiate(of_keys.back(), p, r, q.rows(b, h, queries, p.dim), k.rows(b, kv, keys, p.dim),
                    v.rows(b, kv, keys, p.value_dim), d_o.rows(b, h, queries, p.value_dim));
      d_q_wanted.push_back(of_keys.back().d_q);
      d_sinks_wanted[std::size_t(h)] += of_keys.back().d_sink;
      of_keys.back().d_sink = 0;
    });
    upload();
    tw::attention_backward(d_q.tensor.view, d_k.tensor.view, d_v.tensor.view, d_o.tensor.view, q.tensor.view,
                           k.tensor.view, v.tensor.view, o.tensor.view, options);
    download();
    for_heads([&](int b, int h) {
      const head_gradient& g = of_keys[std::size_t(b * p.kv_heads + p.kv_of(h))];
      expect_near(d_q, b, h, d_q_wanted[std::size_t(b * p.heads + h)], g.term, "dQ");
      if (h % (p.heads / p.kv_heads) != 0) return;
      expect_near(d_k, b, p.kv_of(h), g.d_k, g.term, "dK");
      expect_near(d_v, b, p.kv_of(h), g.d_v, 0, "dV");
    });
    for (int h = 0; !p.sinks.empty() && h < p.heads; ++h) {
      const double of_head = d_sinks_wanted[std::size_t(h)];
      EXPECT_NEAR(d_sinks.get({h}), of_head, 8 * p.unit() * (1 + std::abs(of_head))) << "sink of head " << h;
    }
  }
  std::vector<matrix> d_q_wanted;
};

/// A cache of K or V and its scales: (pages or sequences, rows, heads, columns). Rows of no key are no numbers.
struct cache {
  guarded_tensor tensor, scales;
  bool has_scale_of[3] = {};  // each block, row, head

  void create(tw::element type, long_index_t blocks, int rows, int heads, int columns, choices& c) {
    const bool is_8bit = type == tw::element::fp8 || type == tw::element::i8;
    tensor.create(type, {blocks, rows, heads, columns}, 1, is_8bit ? 16 : 8, c.random);
    if (!is_8bit) return;
    for (bool& has : has_scale_of) has = c.one_in(2);
    scales.create(tw::element::f32,
                  {has_scale_of[0] ? blocks : 1, has_scale_of[1] ? rows : 1, has_scale_of[2] ? heads : 1}, 0, 1,
                  c.random);
  }
  ops_test::indices scale_at(int block, int row, int head) const {
    return {has_scale_of[0] * block, has_scale_of[1] * row, has_scale_of[2] * head};
  }
  void fill(int block, int row, int head, int columns, choices& c) {
    const float quantum = scales.view.data ? 1 / 40.0f : 1;
    if (scales.view.data && std::isnan(scales.get(scale_at(block, row, head))))
      scales.set(scale_at(block, row, head), double(quantum * (0.5f + float(c.up_to(63)) / 64)));
    for (int d = 0; d < columns; ++d) tensor.set({block, row, head, d}, double(c.gaussian() / quantum));
  }
  double get(int block, int row, int head, int d) const {
    return tensor.get({block, row, head, d}) * (scales.view.data ? scales.get(scale_at(block, row, head)) : 1);
  }
};

struct decoding : attention_case {
  tw::element cache_type{};
  bool is_latent = false;
  int rows = 0, pages = 0;  // of a page or sequence; of a sequence's row of the table, 0: no pages
  std::vector<int> table;
  cache k, v;
  guarded_tensor key_counts, block_table;
  tw::attention_decode_options options;

  decoding(choices& c, bool is_long) {
    choose(c, is_long);
    cache_type = c.one_in(3) ? p.type : c.one_in(2) && is_long ? tw::element::fp8 : tw::element::i8;
    is_latent = c.one_in(5) && is_long;
    if (is_latent) p.kv_heads = 1;
    if (is_long) {
      const auto dims = is_latent ? c.one_of<std::pair<int, int>>({{96, 64}, {192, 128}, {96, 64}, {576, 512}})
                                  : c.one_of<std::pair<int, int>>({{32, 32},
                                                                   {64, 64},
                                                                   {128, 128},
                                                                   {64, 64},
                                                                   {128, 128},
                                                                   {192, 128},
                                                                   {256, 256},
                                                                   {384, 384},
                                                                   {512, 512}});
      p.dim = dims.first, p.value_dim = dims.second;
    }
    is_packed = c.one_in(2);
    const int queries = 1 + c.up_to(c.one_in(4) ? 40 : 5), most = c.one_in(5) ? 900 : 90;
    for (int b = c.up_to(3); b >= 0; --b) {
      p.queries.push_back(is_packed && !p.queries.empty() ? c.up_to(queries) : queries);
      p.keys.push_back(c.one_in(8) ? 0 : 1 + c.up_to(most - 1));
    }
    const bool has_counts = !c.one_in(6);
    if (!has_counts) p.keys.assign(p.queries.size(), std::max(p.keys[0], 1));
    rows = std::max(longest(p.keys), 1);
    if (c.one_in(2)) {
      const int of_longest = rows;
      rows = 16 * (1 + c.up_to(2)), pages = (of_longest + rows - 1) / rows + c.up_to(1) * has_counts;
      if (!has_counts) p.keys.assign(p.queries.size(), pages * rows);
    }
    create(c, c.one_in(2));
    create_caches(c);
    if (has_counts) set_numbers(key_counts, p.keys, c);
    set(options);
    options.key_counts = key_counts.view, options.block_table = block_table.view;
    options.k_scales = k.scales.view, options.v_scales = is_latent ? k.scales.view : v.scales.view;
  }
  void create_caches(choices& c) {
    const int blocks = pages > 0 ? p.batch() * pages + c.up_to(2) : p.batch();
    if (pages > 0) {
      table.resize(std::size_t(blocks));
      std::iota(table.begin(), table.end(), 0);
      std::shuffle(table.begin(), table.end(), c.random);
      block_table.create(tw::element::i32, {p.batch(), pages}, 1, 1, c.random);
    }
    k.create(cache_type, blocks, rows, p.kv_heads, p.dim, c);
    if (!is_latent) v.create(cache_type, blocks, rows, p.kv_heads, p.value_dim, c);
    for (int b = 0; b < p.batch(); ++b) {
      for (int i = 0; i * rows < p.keys[std::size_t(b)] && pages > 0; ++i)
        block_table.set_word({b, i}, block_of(b, i * rows));
      for (int j = 0; j < p.keys[std::size_t(b)]; ++j)
        for (int h = 0; h < p.kv_heads; ++h) {
          k.fill(block_of(b, j), j % rows, h, p.dim, c);
          if (!is_latent) v.fill(block_of(b, j), j % rows, h, p.value_dim, c);
        }
    }
  }
  int block_of(int b, int j) const { return pages > 0 ? table[std::size_t(b * pages + j / rows)] : b; }
  matrix rows_of(const cache& from, int b, int head, int columns) const {
    matrix m = zeros(p.keys[std::size_t(b)], columns);
    for (int j = 0; j < p.keys[std::size_t(b)]; ++j)
      for (int d = 0; d < columns; ++d) m(j, d) = from.get(block_of(b, j), j % rows, head, d);
    return m;
  }
  void expect() {
    set_results();
    const std::pair<guarded_tensor*, const char*> all[] = {{&q.tensor, "q"},
                                                           {&o.tensor, "o"},
                                                           {&lse.tensor, "lse"},
                                                           {&query_starts, "query_starts"},
                                                           {&sinks, "sinks"},
                                                           {&k.tensor, "k"},
                                                           {&v.tensor, "v"},
                                                           {&k.scales, "k_scales"},
                                                           {&v.scales, "v_scales"},
                                                           {&key_counts, "key_counts"},
                                                           {&block_table, "block_table"}};
    for (const auto& [t, name] : all) t->upload();
    tw::tensor values = is_latent ? k.tensor.view : v.tensor.view;
    values.lengths[3] = p.value_dim;
    tw::attention_decode(o.tensor.view, q.tensor.view, k.tensor.view, values, options);
    for (const auto& [t, name] : all) t->download(name);
    // AMD GPUs multiply an 8-bit cache by P as bfloat16_t.
    const double unit = k.scales.view.data ? 0x1p-8 : p.unit();
    for_heads([&](int b, int h) {
      expect_outputs(b, h,
                     attend(p, b, h, q.rows(b, h, p.queries[std::size_t(b)], p.dim), rows_of(k, b, p.kv_of(h), p.dim),
                            rows_of(is_latent ? k : v, b, p.kv_of(h), p.value_dim)),
                     unit);
    });
  }
};

/// TILEWRIGHT_RANDOM_PROGRAMS: how many problems of all three kinds; those of the night have more types and heads.
template <class Check>
void for_random_problems(int share, Check check) {
  const char* const count_text = std::getenv("TILEWRIGHT_RANDOM_PROGRAMS");
  const char* const seed_text = std::getenv("TILEWRIGHT_PROPERTY_SEED");
  const int count = (count_text ? std::atoi(count_text) : 20) * share / 100;
  const unsigned seed = seed_text ? unsigned(std::atoi(seed_text)) : 1;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("problem " + std::to_string(i) + " of seed " + std::to_string(seed));
    choices c(seed * 4000 + unsigned(i));
    check(c, count_text != nullptr);
  }
}

/// From now on kernels that serve all lengths are used; otherwise each problem without a block mask has its own.
/// Returns the file in which they are.
std::string use_kernels_for_all_lengths() {
  namespace jit = tilewright::jit;
  jit::compiler by({.target = "gfx942"});
  jit::archive_writer archive;
  for (const tw::element type : {tw::element::f16, tw::element::bf16})
    for (const auto& [dim, value_dim] : head_dims) {
      const jit::kernel_source source =
          jit::attention({.type = type, .head_dim = dim, .value_dim = value_dim, .for_all_lengths = true})(by.target());
      archive.add(by.archive_key(source), by.archive_name(source), by.code_object(source));
    }
  const std::string file = testing::TempDir() + "random_attention_" + std::to_string(getpid()) + ".twa";
  archive.write(file);
  tw::configure({.jit = {.archives = {file}}});
  return file;
}

TEST(RandomAttention, Forward) {
  int count = 0;
  std::string file;
  for_random_problems(30, [&](choices& c, bool is_long) {
    if (is_long && ++count == 40) file = use_kernels_for_all_lengths();
    self_attention(c, is_long, false).expect_forward();
  });
  tw::configure({});
  std::filesystem::remove(file);
}
TEST(RandomAttention, Gradients) {
  for_random_problems(25, [](choices& c, bool is_long) { self_attention(c, is_long, true).expect_gradients(c); });
}
TEST(RandomAttention, Decoding) {
  for_random_problems(45, [](choices& c, bool is_long) { decoding(c, is_long).expect(); });
}

}  // namespace
