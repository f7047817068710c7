// SPDX-License-Identifier: MIT
// Runs attention_backward and compares with gradients in double precision.
#pragma once

#include "../../../max_error.hpp"

#include <tilewright/kernels/attention/backward/attention_backward.hpp>

#include "../forward/check_attention_forward.hpp"

namespace attention_test {

/// What the forward pass gives of one head of one sequence, and its gradients.
struct head_gradients : head_results {
  doubles d_q, d_k, d_v;
  double d_sink = 0;
  double largest_term = 0;  // of the sums dQ and dK, before dP and delta cancel
};

/// A cap and a slope on the scores.
struct cap_args : attention_backward_args {
  float cap = 3;
};
struct soft_cap {
  TILEWRIGHT_HD float operator()(float s, const score_position& at, const cap_args& args) const {
    return args.cap * exec::tanh(s / args.cap) + 0.01f * float(at.key - at.query) * float(1 + at.head);
  }
  TILEWRIGHT_HD float derivative(float s, const score_position&, const cap_args& args) const {
    const float t = exec::tanh(s / args.cap);
    return 1 - t * t;
  }
};

/// Gradients of one query and one key, with heads of N elements.
template <class T, std::size_t N>
attention_backward_args gradients_of_one_query(T (&memory)[5][N], float& lse) {
  attention_backward_args args;
  args.q = args.k = args.v = args.d_o = memory[0];
  args.o = memory[0];
  args.d_q = memory[1];
  args.d_k = memory[2];
  args.d_v = memory[3];
  args.workspace = memory[4];
  args.lse = &lse;
  args.queries = args.keys = 1;
  args.q_strides = args.k_strides = args.v_strides = args.o_strides = {N, N, N};
  args.d_q_strides = args.d_k_strides = args.d_v_strides = args.d_o_strides = {N, N, N};
  args.lse_strides = {1, 1, 1};
  return args;
}

template <class Policy, class Args>
head_gradients reference_gradients(const Args& args, score_position at, index_t queries, index_t keys, const doubles& q,
                                   const doubles& k, const doubles& v, const doubles& d_o) {
  constexpr std::size_t dim = Policy::head_dim, value_dim = Policy::value_dim;
  const auto n = static_cast<std::size_t>(queries), s = static_cast<std::size_t>(keys);
  head_gradients g{reference_head<Policy>(args, at, queries, keys, q, k, v), doubles(n * dim), doubles(s * dim),
                   doubles(s * value_dim)};
  for (std::size_t i = 0; i < n; ++i) {
    const double* const p = g.p.data() + i * s;
    double delta = 0;
    for (std::size_t d = 0; d < value_dim; ++d) delta += g.o[i * value_dim + d] * d_o[i * value_dim + d];
    if (args.sinks && delta != 0) g.d_sink -= std::exp(double(args.sinks[at.head]) - g.lse[i]) * delta;
    for (std::size_t j = 0; j < s; ++j) {
      double dp = 0, dot = 0;
      for (std::size_t d = 0; d < value_dim; ++d) {
        dp += d_o[i * value_dim + d] * v[j * value_dim + d];
        g.d_v[j * value_dim + d] += p[j] * d_o[i * value_dim + d];
      }
      double ds = p[j] * (dp - delta) * double(args.scale);
      const double term = p[j] * (std::abs(dp) + std::abs(delta)) * double(args.scale);
      if constexpr (detail::has_score_function<Policy>) {
        at.query = index_t(i);
        at.key = index_t(j);
        for (std::size_t d = 0; d < dim; ++d) dot += q[i * dim + d] * k[j * dim + d];
        ds *= double(typename Policy::score_function{}.derivative(float(dot * double(args.scale)), at, args));
      }
      for (std::size_t d = 0; d < dim; ++d) {
        g.d_q[i * dim + d] += ds * k[j * dim + d];
        g.d_k[j * dim + d] += ds * q[i * dim + d];
        g.largest_term = std::max(g.largest_term, term * std::max(std::abs(q[i * dim + d]), std::abs(k[j * dim + d])));
      }
    }
  }
  return g;
}

/// The largest difference is a few units of the largest number, or one of a term whose parts were rounded.
template <class T>
void expect_near(const tensor<T>& got, const problem& p, std::size_t batch, index_t first_row, index_t head,
                 const doubles& wanted, double term, const char* what) {
  const doubles values = got.rows(p, batch, first_row, head, index_t(wanted.size()) / got.dim);
  const double unit = std::is_same_v<T, bfloat16_t> ? 0x1p-8 : 0x1p-11;
  double largest = 1e-3, worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double error = std::abs(values[i] - wanted[i]);
    worst = max_error(worst, error);
    largest = std::max(largest, std::abs(wanted[i]));
  }
  EXPECT_LT(worst, unit * (4 * largest + term)) << what << " of sequence " << batch << ", head " << head;
}

/// Computes a problem by run(args, memories) and checks all gradients.
template <class Policy, class Run>
void expect_gradients_by(Run run, const problem& p, typename Policy::args_type args = {}) {
  using T = typename Policy::element_type;
  using Input = typename Policy::input_type;
  constexpr index_t dim = Policy::head_dim, value_dim = Policy::value_dim;
  const T zero = T(0.0f), poison = T(std::numeric_limits<float>::quiet_NaN());
  tensor<Input> q(p, p.heads, p.queries, dim, Input(0.0f)), k(p, p.kv_heads, p.keys, dim, Input(0.0f)),
      v(p, p.kv_heads, p.keys, value_dim, Input(0.0f));
  tensor<T> d_o(p, p.heads, p.queries, value_dim, zero), o(p, p.heads, p.queries, value_dim, zero);
  tensor<T> d_q(p, p.heads, p.queries, dim, poison), d_k(p, p.kv_heads, p.keys, dim, poison),
      d_v(p, p.kv_heads, p.keys, value_dim, poison);
  std::mt19937 random(p.seed);
  std::normal_distribution<float> gaussian;
  for (auto* t : {&q.values, &k.values, &v.values}) {
    for (Input& x : *t) x = Input(gaussian(random));
  }
  for (T& x : d_o.values) x = T(gaussian(random));
  const sequences of(p);
  std::vector<float> lse(of.lse_elements(), NAN);
  of.set(args, q, k, v, o, lse);
  const head_scales scales(p, args, random);
  const std::vector<float> sinks = random_sinks(p.heads, random);
  std::vector<float> d_sinks(std::size_t(p.heads), NAN);
  if (p.has_sinks) args.sinks = sinks.data(), args.d_sinks = d_sinks.data();
  std::vector<unsigned> mask;
  if (p.mask_queries > 0) mask = random_block_mask(p, of, args, random);

  // What the forward pass gives, and the gradients of each head; heads that share keys add theirs up.
  std::vector<head_gradients> wanted;
  for (std::size_t b = 0; b < p.queries.size(); ++b) {
    for (index_t h = 0; h < p.heads; ++h) {
      const index_t kv = h / (p.heads / p.kv_heads), first = of.query_starts[b], first_key = of.key_starts[b];
      wanted.push_back(reference_gradients<Policy>(
          args, {index_t(b), h, 0, 0}, p.queries[b], p.keys[b], q.rows(p, b, first, h, p.queries[b], scales.of_q(b, h)),
          k.rows(p, b, first_key, kv, p.keys[b], scales.of_k(b, kv)),
          v.rows(p, b, first_key, kv, p.keys[b], scales.of_v(b, kv)), d_o.rows(p, b, first, h, p.queries[b])));
      for (index_t i = 0; i < p.queries[b]; ++i) {
        lse[of.lse_place(b, h, i)] = float(wanted.back().lse[std::size_t(i)]);
        for (index_t d = 0; d < value_dim; ++d)
          o.values[o.at(p, b, first, h, i, d)] = T(float(wanted.back().o[std::size_t(i * value_dim + d)]));
      }
    }
  }
  std::vector<float> workspace(std::size_t(attention_backward<Policy>::workspace_bytes(args) / 4), NAN);
  args.d_o = d_o.values.data();
  args.d_q = d_q.values.data();
  args.d_k = d_k.values.data();
  args.d_v = d_v.values.data();
  args.d_o_strides = d_o.strides;
  args.d_q_strides = d_q.strides;
  args.d_k_strides = d_k.strides;
  args.d_v_strides = d_v.strides;
  args.workspace = workspace.data();
  run(args, std::vector<memory>{memory_of(q.values), memory_of(k.values), memory_of(v.values), memory_of(o.values),
                                memory_of(d_o.values), memory_of(d_q.values), memory_of(d_k.values),
                                memory_of(d_v.values), memory_of(lse), memory_of(of.query_starts),
                                memory_of(of.key_starts), memory_of(workspace), memory_of(sinks), memory_of(d_sinks),
                                memory_of(mask), memory_of(scales.q), memory_of(scales.k), memory_of(scales.v)});

  EXPECT_TRUE(d_q.is_complete() && d_k.is_complete() && d_v.is_complete());
  const index_t group = p.heads / p.kv_heads;
  for (std::size_t b = 0; b < p.queries.size(); ++b) {
    for (index_t h = 0; h < p.heads; ++h) {
      head_gradients& own = wanted[b * std::size_t(p.heads) + std::size_t(h)];
      expect_near(d_q, p, b, of.query_starts[b], h, own.d_q, own.largest_term, "dQ");
      if (h % group == 0) continue;
      head_gradients& first = wanted[b * std::size_t(p.heads) + std::size_t(h / group * group)];
      first.largest_term = std::max(first.largest_term, own.largest_term);
      for (std::size_t i = 0; i < own.d_k.size(); ++i) first.d_k[i] += own.d_k[i];
      for (std::size_t i = 0; i < own.d_v.size(); ++i) first.d_v[i] += own.d_v[i];
    }
    for (index_t kv = 0; kv < p.kv_heads; ++kv) {
      const head_gradients& sum = wanted[b * std::size_t(p.heads) + std::size_t(kv * group)];
      expect_near(d_k, p, b, of.key_starts[b], kv, sum.d_k, sum.largest_term, "dK");
      expect_near(d_v, p, b, of.key_starts[b], kv, sum.d_v, 0, "dV");
    }
  }
  for (std::size_t h = 0; p.has_sinks && h < std::size_t(p.heads); ++h) {
    double of_head = 0;
    for (std::size_t b = 0; b < p.queries.size(); ++b) of_head += wanted[b * std::size_t(p.heads) + h].d_sink;
    EXPECT_NEAR(double(d_sinks[h]), of_head, 0.02 * (1 + std::abs(of_head))) << "head " << h;
  }
}

/// On the CPU emulator.
template <class Policy>
void expect_gradients(const problem& p, typename Policy::args_type args = {}) {
  expect_gradients_by<Policy>(
      [](const auto& a, const auto&) {
        launch<attention_backward<Policy>>(a, {.check_lds = emulator::lds_checks::on});
      },
      p, args);
}

template <class Policy>
void expect_random_gradients(int cases, unsigned seed, typename Policy::args_type args = {}) {
  for_random_cases(cases, seed, [&](std::mt19937& random) {
    problem p = random_problem(random);
    p.has_scales = sizeof(typename Policy::input_type) == 1 && random() % 4 > 0;
    if (Policy::has_block_mask) p.mask_queries = 16 << random() % 5, p.mask_keys = 16 << random() % 4;
    expect_gradients<Policy>(p, args);
  });
}

/// The second half of the queries sees the second half of the keys, and nothing else is seen; what is in the first
/// halves is no number, so it must not even be multiplied by zero.
template <class Policy>
void expect_gradients_skip_hidden_tiles() {
  using T = typename Policy::element_type;
  problem p;
  p.queries = p.keys = {256};
  const unsigned bits[] = {0, 2};
  typename Policy::args_type args;
  args.block_mask = {.queries = 128, .keys = 128, .bits = bits, .strides = {0, 0, 1}};
  expect_gradients_by<Policy>(
      [](const auto& given, const auto& memories) {
        auto changed = given;
        std::vector<T> copies[3];
        for (std::size_t i = 0; i < 3; ++i) {
          const T* const values = static_cast<const T*>(memories[i].data);
          copies[i].assign(values, values + memories[i].bytes / sizeof(T));
          for (std::size_t j = 0; j < copies[i].size() / 2; ++j)
            copies[i][j] = T(std::numeric_limits<float>::quiet_NaN());
        }
        changed.q = copies[0].data(), changed.k = copies[1].data(), changed.v = copies[2].data();
        launch<attention_backward<Policy>>(changed, {.check_lds = emulator::lds_checks::on});
      },
      p, args);
}

/// Whole tiles, rows without keys, sequences without queries or keys.
template <class Policy>
void expect_gradients_at_the_edges(index_t whole_tiles) {
  problem whole;
  whole.queries = whole.keys = {whole_tiles};
  expect_gradients<Policy>(whole);
  problem blind;
  blind.queries = {200};
  blind.keys = {40};
  blind.window = causal;  // 160 rows see nothing
  expect_gradients<Policy>(blind);
  problem empty;
  empty.packed = true;
  empty.queries = {5, 0, 7};
  empty.keys = {0, 3, 9};
  expect_gradients<Policy>(empty);
}

}  // namespace attention_test
