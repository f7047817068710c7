// SPDX-License-Identifier: MIT
// Runs attention_forward on the CPU emulator and compares with a computation in double precision.
#pragma once

#include "../../../max_error.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/launch/launch.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "../../../property/setting.hpp"

namespace attention_test {

using namespace tilewright;

/// A problem: lengths of each sequence (one pair: all alike), heads, mask, memory order.
struct problem {
  index_t heads = 1, kv_heads = 1;
  std::vector<index_t> queries, keys;  // of each sequence
  attention_window window;
  bool rows_before_heads = true;  // (batch, row, head, dim), else (batch, head, row, dim)
  bool packed = false;            // with starts
  index_t gap = 0;                // elements between rows, heads and sequences
  float scale = 0.125f;
  bool has_scales = false;  // of each head's 8-bit elements
  bool has_sinks = false;
  bool has_growing_keys = false;            // so that offsets of the softmax change from step to step
  index_t mask_queries = 0, mask_keys = 0;  // of the tiles of a block mask, of which one of three is seen; 0: none
  unsigned seed = 1;
};

/// Rows of all sequences of a tensor of `heads` heads, in one of both orders.
template <class T>
struct tensor {
  std::vector<T> values;
  attention_strides strides;
  index_t dim;
  std::size_t elements;

  tensor(const problem& p, index_t heads, const std::vector<index_t>& lengths, index_t cols, T fill) : dim(cols) {
    index_t rows = 0, longest = 0;
    for (const index_t length : lengths) rows += length, longest = std::max(longest, length);
    const index_t rows_of_batch = p.packed ? rows : longest, sequences = p.packed ? 1 : index_t(lengths.size()),
                  inner = p.rows_before_heads ? heads : rows_of_batch;
    const long_index_t outer_stride = long_index_t(inner) * (dim + p.gap) + p.gap,
                       batch_stride = (p.rows_before_heads ? rows_of_batch : heads) * outer_stride + p.gap;
    if (p.rows_before_heads)
      strides = {batch_stride, dim + p.gap, index_t(outer_stride)};
    else
      strides = {batch_stride, outer_stride, dim + p.gap};
    values.assign(std::size_t(std::max<long_index_t>(sequences * batch_stride, heads * dim)), fill);
    elements = std::size_t(sequences * rows_of_batch) * std::size_t(heads * dim);
  }
  /// Whether a result that was filled with no numbers has them where its rows are, and nowhere else.
  bool is_complete() const {
    std::size_t numbers = 0;
    for (const T x : values) numbers += !std::isnan(float(x));
    return numbers == elements;
  }
  /// Rows of a head of a sequence, times `factor`.
  std::vector<double> rows(const problem& p, std::size_t batch, index_t first_row, index_t head, index_t count,
                           double factor = 1) const {
    std::vector<double> result;
    for (index_t row = 0; row < count; ++row)
      for (index_t d = 0; d < dim; ++d)
        result.push_back(factor * double(float(values[at(p, batch, first_row, head, row, d)])));
    return result;
  }
  std::size_t at(const problem& p, std::size_t batch, index_t first_row, index_t head, index_t row, index_t d) const {
    const long_index_t begin = p.packed ? long_index_t(first_row) * strides.row : long_index_t(batch) * strides.batch;
    return std::size_t(begin + head * strides.head + long_index_t(row) * strides.row + d);
  }
};

inline std::vector<index_t> starts_of(const std::vector<index_t>& lengths) {
  std::vector<index_t> starts{0};
  for (const index_t length : lengths) starts.push_back(starts.back() + length);
  return starts;
}

/// The score after the mask; -infinity where the key is not seen.
template <class Policy, class Args>
double reference_score(const Args& args, const score_position& at, index_t queries, index_t keys, double dot) {
  double s = dot * double(args.scale);
  if constexpr (detail::has_score_function<Policy>) s = double(typename Policy::score_function{}(float(s), at, args));
  const index_t distance = at.key - (at.query + keys - queries);
  bool seen = (args.window.left < 0 || distance >= -args.window.left) &&
              (args.window.right < 0 || distance <= args.window.right);
  if (const attention_block_mask& m = args.block_mask; m.bits) {
    const index_t row = at.query / m.queries, tile = at.key / m.keys;
    const unsigned* const words = m.bits + at.batch * m.strides.batch + at.head * m.strides.head + row * m.strides.row;
    seen = seen && words[tile / 32] >> tile % 32 & 1;
  }
  return seen ? s : -std::numeric_limits<double>::infinity();
}

using doubles = std::vector<double>;

/// A sink for each head, around the largest scores of some keys; one of them counts for nothing.
inline std::vector<float> random_sinks(index_t heads, std::mt19937& random) {
  std::vector<float> sinks;
  for (index_t h = 0; h < heads; ++h)
    sinks.push_back(h == 3 ? -std::numeric_limits<float>::infinity() : float(random() % 900) * 0.01f - 4);
  return sinks;
}

/// One head of one sequence in double precision: O and the log-sum-exp of each query, and its keys' probabilities.
struct head_results {
  doubles o, lse, p;
};
template <class Policy, class Args>
head_results reference_head(const Args& args, score_position at, index_t queries, index_t keys, const doubles& q,
                            const doubles& k, const doubles& v) {
  constexpr std::size_t dim = Policy::head_dim, value_dim = Policy::value_dim;
  constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
  const auto n = static_cast<std::size_t>(queries), s = static_cast<std::size_t>(keys);
  head_results r{doubles(n * value_dim), doubles(n, minus_infinity), doubles(n * s)};
  for (std::size_t i = 0; i < n; ++i) {
    double* const p = r.p.data() + i * s;
    const double sink = args.sinks ? double(args.sinks[at.head]) : minus_infinity;
    double top = sink;
    for (std::size_t j = 0; j < s; ++j) {
      double dot = 0;
      for (std::size_t d = 0; d < dim; ++d) dot += q[i * dim + d] * k[j * dim + d];
      at.query = index_t(i);
      at.key = index_t(j);
      p[j] = reference_score<Policy>(args, at, queries, keys, dot);
      top = std::max(top, p[j]);
    }
    double sum = top == minus_infinity ? 0 : std::exp(sink - top);
    for (std::size_t j = 0; j < s; ++j) sum += p[j] = top == minus_infinity ? 0 : std::exp(p[j] - top);
    if (sum > 0) r.lse[i] = top + std::log(sum);
    for (std::size_t j = 0; sum > 0 && j < s; ++j) {
      p[j] /= sum;
      for (std::size_t d = 0; p[j] > 0 && d < value_dim; ++d) r.o[i * value_dim + d] += p[j] * v[j * value_dim + d];
    }
  }
  return r;
}

/// What a kernel may touch.
struct memory {
  const void* data;
  std::size_t bytes;
};
template <class T>
memory memory_of(const std::vector<T>& values) {
  return {values.data(), values.size() * sizeof(T)};
}

/// A problem's lengths as arguments.
struct sequences {
  const problem& p;
  std::vector<index_t> query_starts = starts_of(p.queries), key_starts = starts_of(p.keys);
  index_t queries = *std::max_element(p.queries.begin(), p.queries.end()),
          keys = *std::max_element(p.keys.begin(), p.keys.end()), lse_rows = p.packed ? query_starts.back() : queries;

  explicit sequences(const problem& of) : p(of) {}
  std::size_t lse_elements() const { return p.queries.size() * std::size_t(p.heads * lse_rows); }
  std::size_t lse_place(std::size_t batch, index_t head, index_t row) const {
    return p.packed ? std::size_t(head * lse_rows + query_starts[batch] + row)
                    : (batch * std::size_t(p.heads) + std::size_t(head)) * std::size_t(lse_rows) + std::size_t(row);
  }
  template <class Args, class T, class Result>
  void set(Args& args, const tensor<T>& q, const tensor<T>& k, const tensor<T>& v, tensor<Result>& o,
           std::vector<float>& lse) const {
    args.q = q.values.data();
    args.k = k.values.data();
    args.v = v.values.data();
    args.o = o.values.data();
    args.lse = lse.data();
    args.batch = index_t(p.queries.size());
    args.heads = p.heads;
    args.kv_heads = p.kv_heads;
    args.queries = queries;
    args.keys = keys;
    args.q_strides = q.strides;
    args.k_strides = k.strides;
    args.v_strides = v.strides;
    args.o_strides = o.strides;
    args.lse_strides = {long_index_t(p.heads) * lse_rows, lse_rows, 1};
    if (p.packed) {
      args.query_starts = query_starts.data();
      args.key_starts = key_starts.data();
    }
    args.scale = p.scale;
    args.window = p.window;
  }
};

/// Bits of a block mask for all tiles, one of three set, for each head, or one for all; more words than needed.
inline std::vector<unsigned> random_block_mask(const problem& p, const sequences& of, attention_args& args,
                                               std::mt19937& random) {
  attention_block_mask& m = args.block_mask;
  m.queries = p.mask_queries, m.keys = p.mask_keys;
  const index_t rows = (of.queries + m.queries - 1) / m.queries;
  m.strides.row = (of.keys + 32 * m.keys - 1) / (32 * m.keys) + index_t(random() % 2);
  if (random() % 3 > 0) {
    m.strides.head = rows * m.strides.row;
    m.strides.batch = p.heads * m.strides.head;
  }
  std::vector<unsigned> bits(p.queries.size() * std::size_t(p.heads * rows * m.strides.row) + 1);
  for (unsigned& word : bits) {
    for (int i = 0; i < 32; ++i) word = word << 1 | unsigned(random() % 3 == 0);
  }
  m.bits = bits.data();
  return bits;
}

/// Scales of 8-bit elements of each head of each sequence; ones where the problem has none. They have 4 bits, so that
/// bfloat16_t has their products with elements.
struct head_scales {
  std::size_t heads, kv_heads;
  std::vector<float> q, k, v;

  head_scales(const problem& p, attention_args& args, std::mt19937& random)
      : heads(std::size_t(p.heads)),
        kv_heads(std::size_t(p.kv_heads)),
        q(p.queries.size() * heads, 1),
        k(p.queries.size() * kv_heads, 1),
        v(k) {
    if (!p.has_scales) return;
    for (auto* scales : {&q, &k, &v}) {
      for (float& x : *scales) x = float(8 + random() % 8) / float(4 << random() % 4);
    }
    args.q_scales = q.data();
    args.k_scales = k.data();
    args.v_scales = v.data();
  }
  double of_q(std::size_t batch, index_t head) const { return double(q[batch * heads + std::size_t(head)]); }
  double of_k(std::size_t batch, index_t head) const { return double(k[batch * kv_heads + std::size_t(head)]); }
  double of_v(std::size_t batch, index_t head) const { return double(v[batch * kv_heads + std::size_t(head)]); }
};

/// Computes a problem by run(args, memories) and checks O and the log-sum-exp against double precision.
template <class Policy, class Run>
void expect_attention_by(Run run, const problem& p, typename Policy::args_type args = {}) {
  using T = typename Policy::element_type;
  using Result = typename Policy::result_type;
  constexpr index_t dim = Policy::head_dim, value_dim = Policy::value_dim;
  tensor<T> q(p, p.heads, p.queries, dim, T(0.0f)), k(p, p.kv_heads, p.keys, dim, T(0.0f)),
      v(p, p.kv_heads, p.keys, value_dim, T(0.0f));
  const Result poison = Result(std::numeric_limits<float>::quiet_NaN());
  tensor<Result> o(p, p.heads, p.queries, value_dim, poison);
  std::mt19937 random(p.seed);
  std::normal_distribution<float> gaussian;
  for (auto* t : {&q.values, &k.values, &v.values}) {
    for (T& x : *t) x = T(gaussian(random));
  }
  for (std::size_t i = 0; p.has_growing_keys && i < k.values.size(); ++i)
    k.values[i] = T(float(k.values[i]) * (1 + 20 * float(i) / float(k.values.size())));
  const sequences of(p);
  std::vector<float> lse(of.lse_elements(), NAN);
  of.set(args, q, k, v, o, lse);
  const head_scales scales(p, args, random);
  const std::vector<float> sinks = random_sinks(p.heads, random);
  if (p.has_sinks) args.sinks = sinks.data();
  std::vector<unsigned> mask;
  if (p.mask_queries > 0) mask = random_block_mask(p, of, args, random);
  run(args,
      std::vector<memory>{memory_of(q.values), memory_of(k.values), memory_of(v.values), memory_of(o.values),
                          memory_of(lse), memory_of(of.query_starts), memory_of(of.key_starts), memory_of(scales.q),
                          memory_of(scales.k), memory_of(scales.v), memory_of(sinks), memory_of(mask)});

  EXPECT_TRUE(o.is_complete()) << "or something was written between rows";
  double worst = 0, worst_lse = 0, squares = 0, error_squares = 0;
  for (std::size_t b = 0; b < p.queries.size(); ++b) {
    for (index_t h = 0; h < p.heads; ++h) {
      const index_t kv = h / (p.heads / p.kv_heads), queries = p.queries[b], keys = p.keys[b],
                    first = of.query_starts[b], first_key = of.key_starts[b];
      const head_results wanted = reference_head<Policy>(
          args, {index_t(b), h, 0, 0}, queries, keys, q.rows(p, b, first, h, queries, scales.of_q(b, h)),
          k.rows(p, b, first_key, kv, keys, scales.of_k(b, kv)), v.rows(p, b, first_key, kv, keys, scales.of_v(b, kv)));
      const doubles got = o.rows(p, b, first, h, queries);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double error = std::abs(got[i] - wanted.o[i]);
        worst = max_error(worst, error);
        squares += wanted.o[i] * wanted.o[i];
        error_squares += error * error;
      }
      for (index_t i = 0; i < queries; ++i) {
        const double got_lse = double(lse[of.lse_place(b, h, i)]), wanted_lse = wanted.lse[std::size_t(i)];
        const double error = got_lse == wanted_lse ? 0 : std::abs(got_lse - wanted_lse);
        worst_lse = max_error(worst_lse, error);
      }
    }
  }
  if (sizeof(T) == 1) {  // the probabilities have 3 bits of mantissa
    EXPECT_LT(worst, 0.3);
    EXPECT_LE(error_squares, 0.04 * 0.04 * squares);
  } else {
    EXPECT_LT(worst, 6 * (std::is_same_v<T, bfloat16_t> ? 0x1p-8 : 0x1p-11));
  }
  EXPECT_LT(worst_lse, 1e-4);
}

/// Why a kernel refuses `args` after change(args), or "accepted".
template <class Kernel, class Args>
std::string refusal_of(Args args, auto change) {
  change(args);
  const char* const why = Kernel::check(args);
  return why ? why : "accepted";
}
#define EXPECT_REFUSAL(args, change, words) \
  EXPECT_NE(refusal_of<kernel>(args, [&](auto& a) { change; }).find(words), std::string::npos)

/// Sequences of four tiles of a block mask, `keys` keys each: each query sees the second and the fourth one alone, and
/// what is in the others is no number, so it must not even be multiplied by zero.
template <class Policy>
void expect_hidden_tiles_are_skipped(index_t queries, index_t keys) {
  using T = typename Policy::element_type;
  problem p;
  p.queries = {queries};
  p.keys = {4 * keys};
  const unsigned bits[] = {10, 10, 10, 10};
  typename Policy::args_type args;
  args.block_mask = {.queries = 128, .keys = keys, .bits = bits, .strides = {0, 0, 1}};
  ASSERT_LE(queries, 4 * 128);
  expect_attention_by<Policy>(
      [&](const auto& given, const auto&) {
        auto changed = given;
        const auto with_hidden = [&](const void* data, index_t row_stride) {
          const std::size_t tile = std::size_t(keys * row_stride);
          const T* const values = static_cast<const T*>(data);
          std::vector<T> result(values, values + 4 * tile);
          for (std::size_t i = 0; i < 4 * tile; ++i)
            if (i / tile % 2 == 0) result[i] = T(std::numeric_limits<float>::quiet_NaN());
          return result;
        };
        const std::vector<T> k = with_hidden(given.k, given.k_strides.row),
                             v = with_hidden(given.v, given.v_strides.row);
        changed.k = k.data(), changed.v = v.data();
        launch<attention_forward<Policy>>(changed, {.check_lds = emulator::lds_checks::on});
      },
      p, args);
}

/// On the CPU emulator.
template <class Policy>
void expect_attention(const problem& p, typename Policy::args_type args = {}) {
  expect_attention_by<Policy>(
      [](const auto& a, const auto&) { launch<attention_forward<Policy>>(a, {.check_lds = emulator::lds_checks::on}); },
      p, args);
}

inline problem with(index_t heads, index_t kv_heads, std::vector<index_t> queries, std::vector<index_t> keys,
                    attention_window window = {}, bool packed = false) {
  problem p;
  p.heads = heads;
  p.kv_heads = kv_heads;
  p.queries = std::move(queries);
  p.keys = std::move(keys);
  p.window = window;
  p.packed = packed;
  return p;
}

/// Random lengths, heads, masks and memory orders: each case is another combination.
inline problem random_problem(std::mt19937& random) {
  const auto up_to = [&](index_t n) { return index_t(random() % unsigned(n)); };
  problem p;
  p.packed = up_to(2) == 1;
  p.rows_before_heads = up_to(2) == 1;
  p.kv_heads = 1 + up_to(2);
  p.heads = p.kv_heads * (1 + up_to(2));
  const index_t longest = 1 + up_to(2) * 63 + up_to(140), sequences = 1 + up_to(p.packed ? 3 : 2);
  for (index_t b = 0; b < sequences; ++b) {
    // Lengths may differ only where starts are given; there sequences may be empty.
    p.queries.push_back(p.packed || b == 0 ? index_t(!p.packed || up_to(8) > 0) + up_to(longest) : p.queries[0]);
    p.keys.push_back(p.packed || b == 0 ? up_to(8) == 0 ? 0 : 1 + up_to(longest) : p.keys[0]);
  }
  if (*std::max_element(p.queries.begin(), p.queries.end()) == 0) p.queries[0] = 1;
  const index_t mask = up_to(6);
  if (mask == 1) p.window = causal;
  if (mask == 2) p.window = {up_to(50), 0};
  if (mask == 3) p.window = {up_to(20), up_to(20)};
  if (mask == 4) p.window = {up_to(50), -1};
  if (mask == 5) p.window = {-1, up_to(50)};
  p.has_sinks = up_to(3) == 0;
  p.has_growing_keys = up_to(4) == 0;
  p.gap = 16 * up_to(2);
  p.seed = random();
  return p;
}

/// Calls check(random) for `cases` random problems. TILEWRIGHT_PROPERTY_CASES asks for more (property::scaled),
/// TILEWRIGHT_PROPERTY_SEED for others.
template <class Check>
void for_random_cases(int cases, unsigned seed, Check check) {
  std::mt19937 random(seed + unsigned(property::setting("TILEWRIGHT_PROPERTY_SEED", 0)));
  for (long i = 0; i < property::scaled(cases) && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(seed));
    check(random);
  }
}

template <class Policy>
void expect_random_problems(int cases, unsigned seed, typename Policy::args_type args = {}) {
  for_random_cases(cases, seed, [&](std::mt19937& random) {
    problem p = random_problem(random);
    p.has_scales = sizeof(typename Policy::element_type) == 1 && random() % 4 > 0;
    if (Policy::has_block_mask) p.mask_queries = 16 << random() % 5, p.mask_keys = 16 << random() % 4;
    expect_attention<Policy>(p, args);
  });
}

}  // namespace attention_test
