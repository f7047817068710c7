// SPDX-License-Identifier: MIT
// Attention forward, the kernel for any target, on a GPU against double precision: f16 and bf16, masks, grouped heads.
//   nvcc -x cu -std=c++20 -arch=sm_90a -I include tests/gpu/attention.hip -o attention && ./attention
#include "../max_error.hpp"

#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/launch/launch.hpp>

#include "../../tools/gpu/runtime.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace tw = tilewright;
using tw::index_t;

template <class Arch>
struct half_64 : tw::attention_policy<Arch, tw::half_t, 64> {};
template <class Arch>
using half_64_kernel = tw::attention_forward<half_64<Arch>>;
template <class Arch>
struct bfloat16_128 : tw::attention_policy<Arch, tw::bfloat16_t, 128> {};
template <class Arch>
using bfloat16_128_kernel = tw::attention_forward<bfloat16_128<Arch>>;

struct shape {
  const char* name;
  index_t heads, kv_heads, queries, keys;
  tw::attention_window window;
};

/// Rows of one head after the other; batch 1.
template <class T, index_t Dim>
struct problem {
  shape s;
  float scale = 0.09f;
  std::vector<T> q = random(s.heads * s.queries, 1), k = random(s.kv_heads * s.keys, 2),
                 v = random(s.kv_heads * s.keys, 3), o = std::vector<T>(q.size());

  static std::vector<T> random(index_t rows, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> gaussian;
    std::vector<T> values(std::size_t(rows) * Dim);
    for (T& x : values) x = T(gaussian(generator));
    return values;
  }
  static double value(const std::vector<T>& values, index_t row, index_t d) {
    return double(float(values[std::size_t(row) * Dim + std::size_t(d)]));
  }
  bool sees(index_t query, index_t key) const {
    const index_t distance = key - (query + s.keys - s.queries);
    return (s.window.left < 0 || distance >= -s.window.left) && (s.window.right < 0 || distance <= s.window.right);
  }
  /// Of one query's row of O.
  double worst_error(index_t head, index_t query) const {
    const index_t row = head * s.queries + query, first_key = head / (s.heads / s.kv_heads) * s.keys;
    std::vector<double> weight(static_cast<std::size_t>(s.keys), -std::numeric_limits<double>::infinity());
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (index_t j = 0; j < s.keys; ++j) {
      if (!sees(query, j)) continue;
      double dot = 0;
      for (index_t d = 0; d < Dim; ++d) dot += value(q, row, d) * value(k, first_key + j, d);
      weight[std::size_t(j)] = dot * double(scale);
      top = std::fmax(top, weight[std::size_t(j)]);
    }
    for (double& w : weight) sum += w = std::isinf(top) ? 0 : std::exp(w - top);
    double worst = 0;
    for (index_t d = 0; d < Dim; ++d) {
      double expected = 0;
      for (index_t j = 0; j < s.keys; ++j) expected += weight[std::size_t(j)] * value(v, first_key + j, d);
      const double error = std::fabs(value(o, row, d) - (sum > 0 ? expected / sum : 0));
      worst = max_error(worst, error);
    }
    return worst;
  }
};

template <template <class> class Kernel, class T, index_t Dim>
bool is_right(const char* name, const shape& s) {
  problem<T, Dim> p{s};
  const gpu::buffer<T> q(p.q.data(), p.q.size()), k(p.k.data(), p.k.size()), v(p.v.data(), p.v.size()),
      o(p.o.data(), p.o.size());
  tw::attention_args args;
  args.q = q.data(), args.k = k.data(), args.v = v.data(), args.o = o.data();
  args.batch = 1, args.heads = s.heads, args.kv_heads = s.kv_heads, args.queries = s.queries, args.keys = s.keys;
  args.q_strides = args.o_strides = {0, tw::long_index_t(s.queries) * Dim, Dim};
  args.k_strides = args.v_strides = {0, tw::long_index_t(s.keys) * Dim, Dim};
  args.scale = p.scale, args.window = s.window;
  tw::launch<Kernel>(args);
  gpu::check(TILEWRIGHT_GPU(DeviceSynchronize)(), "running a kernel");
  o.download(p.o.data());
  double worst = 0;
  for (index_t head = 0; head < s.heads; ++head) {
    for (index_t query = 0; query < s.queries; ++query) {
      const double error = p.worst_error(head, query);
      worst = max_error(worst, error);
    }
  }
  const double allowed = 6 * (std::is_same_v<T, tw::half_t> ? 0x1p-11 : 0x1p-8);
  std::printf("%-13s %-16s %s  error %.2e, allowed %.2e\n", name, s.name, worst <= allowed ? "PASS" : "FAIL", worst,
              allowed);
  return worst <= allowed;
}

}  // namespace

int main() {
  const tw::attention_window causal{-1, 0}, sliding{30, 5};
  bool right = true;
  for (const shape& s : {shape{"full", 2, 2, 128, 200, {}}, shape{"causal", 3, 1, 70, 150, causal},
                         shape{"sliding window", 2, 1, 140, 140, sliding}}) {
    right = is_right<half_64_kernel, tw::half_t, 64>("f16, d 64", s) && right;
    right = is_right<bfloat16_128_kernel, tw::bfloat16_t, 128>("bf16, d 128", s) && right;
  }
  return right ? 0 : 1;
}
