// SPDX-License-Identifier: MIT
#include "check_products.hpp"
#include "../../tests/max_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/kernels/gemm/split_k.hpp>

#include "stopwatch.hpp"

namespace {

namespace jit = tilewright::jit;
using tilewright::half_t;
using tilewright::index_t;
using tilewright::long_index_t;

std::mt19937 random_bits{std::random_device{}()};
index_t draw(index_t first, index_t last) { return first + index_t(random_bits() % unsigned(last - first + 1)); }

std::vector<half_t> gaussian_halves(std::size_t count) {
  std::normal_distribution<float> gaussian;
  std::vector<half_t> result(count);
  for (half_t& x : result) x = half_t(gaussian(random_bits));
  return result;
}

/// Stands for memory that is not there yet.
alignas(16) float somewhere[4];

jit::gemm_problem draw_product(int i) {
  jit::gemm_problem p;
  tilewright::gemm_args& g = p.args;
  const bool odd = i % 3 == 0;
  const auto length = [&](index_t most) { return odd ? draw(1, most) : draw(1, most / 8) * 8; };
  g.m = i % 5 == 0 ? draw(1, 16) : length(700);
  g.n = length(700);
  g.k = length(900);
  g.batch = draw(1, 3);
  p.a_along_k = draw(0, 1);
  p.b_along_k = draw(0, 1);
  const index_t gap = odd ? draw(0, 3) : draw(0, 1) * 8;
  g.lda = (p.a_along_k ? g.k : g.m) + gap;
  g.ldb = (p.b_along_k ? g.k : g.n) + gap;
  g.ldc = g.n + gap;
  g.batch_stride_a = long_index_t(g.lda) * (p.a_along_k ? g.m : g.k);
  g.batch_stride_b = long_index_t(g.ldb) * (p.b_along_k ? g.n : g.k);
  g.batch_stride_c = long_index_t(g.ldc) * g.m;
  g.alpha = 0.5f;
  g.beta = draw(0, 1) ? 0.0f : 2.0f;
  if (i % 7 == 1 && g.k > 300) g.split_k = 2;
  if (g.split_k > 1 || i % 2 == 0) g.workspace = somewhere;
  if (i % 4 == 0 && g.split_k == 1) g.bias = somewhere;
  return p;
}

/// Largest error, in units of what rounding explains.
double check_product(jit::compiler& compiler, jit::gemm_problem p) {
  const jit::kernel kernel = compiler.load(jit::gemm(p));
  tilewright::gemm_args& g = p.args;
  const auto a = gaussian_halves(std::size_t(g.batch_stride_a * g.batch));
  const auto b = gaussian_halves(std::size_t(g.batch_stride_b * g.batch));
  const auto bias = gaussian_halves(std::size_t(g.n));
  auto c = gaussian_halves(std::size_t(g.batch_stride_c * g.batch));
  const auto before = c;
  const device_array on_a(a.size() * 2), on_b(b.size() * 2), on_c(c.size() * 2), on_bias(bias.size() * 2),
      workspace(std::size_t(std::max(tilewright::workspace_bytes(g), tilewright::hopper_gemm_workspace::bytes)));
  on_a.upload(a.data());
  on_b.upload(b.data());
  on_c.upload(c.data());
  on_bias.upload(bias.data());
  require(cudaMemset(workspace.at(0), 0, tilewright::hopper_gemm_workspace::counter_bytes));
  g.a = on_a.at(0);
  g.b = on_b.at(0);
  g.c = on_c.at(0);
  if (g.workspace) g.workspace = workspace.at(0);
  if (g.bias) g.bias = on_bias.at(0);
  kernel(g);
  require(cudaDeviceSynchronize());
  on_c.download(c.data());
  double worst = 0;
  for (int sample = 0; sample < 3000; ++sample) {
    const index_t batch = draw(0, g.batch - 1), row = draw(0, g.m - 1), col = draw(0, g.n - 1);
    double sum = 0, size = 0;
    for (index_t x = 0; x < g.k; ++x) {
      const long_index_t at_a =
          batch * g.batch_stride_a + (p.a_along_k ? long_index_t(row) * g.lda + x : long_index_t(x) * g.lda + row);
      const long_index_t at_b =
          batch * g.batch_stride_b + (p.b_along_k ? long_index_t(col) * g.ldb + x : long_index_t(x) * g.ldb + col);
      const double product = double(a[std::size_t(at_a)]) * double(b[std::size_t(at_b)]);
      sum += product;
      size += std::abs(product);
    }
    const auto at_c = std::size_t(batch * g.batch_stride_c + long_index_t(row) * g.ldc + col);
    const double old = g.beta == 0 ? 0 : double(g.beta) * double(before[at_c]);
    const double wanted = double(g.alpha) * sum + (g.bias ? double(bias[std::size_t(col)]) : 0) + old;
    worst = max_error(worst, std::abs(double(c[at_c]) - wanted) / (1e-3 * std::abs(wanted) + 1e-6 * size + 1e-4));
  }
  for (long_index_t at = 0; at < g.batch_stride_c * g.batch; ++at)  // nothing between the rows was written
    if (at % g.ldc >= g.n && float(c[std::size_t(at)]) != float(before[std::size_t(at)])) worst = 1e9;
  return worst;
}

jit::attention_problem draw_heads(int i) {
  jit::attention_problem p;
  p.head_dim = p.value_dim = i % 4 == 3 ? 32 : draw(2, 8) * 32;
  tilewright::attention_args& a = p.args;
  a.batch = draw(1, 2);
  a.kv_heads = draw(1, 3);
  a.heads = a.kv_heads * draw(1, 2);
  a.queries = draw(1, 300);
  a.keys = draw(1, 300);
  a.scale = 0.1f;
  if (draw(0, 1)) a.window = tilewright::causal;
  const auto strides = [&](index_t rows, index_t of_heads) {
    return tilewright::attention_strides{long_index_t(rows) * of_heads * p.head_dim, p.head_dim, of_heads * p.head_dim};
  };
  a.q_strides = a.o_strides = strides(a.queries, a.heads);
  a.k_strides = a.v_strides = strides(a.keys, a.kv_heads);
  return p;
}

double check_heads(jit::compiler& compiler, jit::attention_problem p) {
  const jit::kernel kernel = compiler.load(jit::attention(p));
  tilewright::attention_args& a = p.args;
  const auto q = gaussian_halves(std::size_t(a.q_strides.batch * a.batch)),
             k = gaussian_halves(std::size_t(a.k_strides.batch * a.batch)), v = gaussian_halves(k.size());
  std::vector<half_t> o(q.size());
  const device_array on_q(q.size() * 2), on_k(k.size() * 2), on_v(v.size() * 2), on_o(o.size() * 2);
  on_q.upload(q.data());
  on_k.upload(k.data());
  on_v.upload(v.data());
  a.q = on_q.at(0);
  a.k = on_k.at(0);
  a.v = on_v.at(0);
  a.o = on_o.at(0);
  kernel(a);
  require(cudaDeviceSynchronize());
  on_o.download(o.data());
  double worst = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const index_t b = draw(0, a.batch - 1), head = draw(0, a.heads - 1), row = draw(0, a.queries - 1),
                  col = draw(0, p.value_dim - 1);
    const index_t kv = head / (a.heads / a.kv_heads);
    const long_index_t at_q = b * a.q_strides.batch + head * a.q_strides.head + long_index_t(row) * a.q_strides.row;
    double sum = 0, weights = 0;
    for (index_t key = 0; key < a.keys; ++key) {
      if (a.window.right == 0 && key > row + a.keys - a.queries) continue;
      const long_index_t at_k = b * a.k_strides.batch + kv * a.k_strides.head + long_index_t(key) * a.k_strides.row;
      double score = 0;
      for (index_t x = 0; x < p.head_dim; ++x)
        score += double(q[std::size_t(at_q + x)]) * double(k[std::size_t(at_k + x)]);
      const double weight = std::exp(score * double(a.scale));
      weights += weight;
      sum += weight * double(v[std::size_t(at_k + col)]);
    }
    const double wanted = weights == 0 ? 0 : sum / weights;
    worst = max_error(worst, std::abs(double(o[std::size_t(at_q + col)]) - wanted) / 6e-3);
  }
  return worst;
}

template <class Draw, class Request, class Check>
bool check_many(const char* what, int count, jit::compiler& compiler, Draw draw_problem, Request request, Check check) {
  std::vector<decltype(draw_problem(0))> problems;
  std::vector<jit::kernel_request> requests;
  for (int i = 0; i < count; ++i) {
    problems.push_back(draw_problem(i));
    requests.push_back(request(problems.back()));
  }
  compiler.prepare(requests);
  double worst = 0;
  int wrong = 0;
  for (const auto& p : problems) {
    const double error = check(compiler, p);
    worst = max_error(worst, error);
    if (error <= 1) continue;
    ++wrong;
    std::printf("wrong: %s\n", request(p)(compiler.target()).name.c_str());
  }
  std::printf("%s: %d of %d right, largest error %.2f of what is allowed\n", what, count - wrong, count, worst);
  return wrong == 0;
}

}  // namespace

bool check_products(jit::compiler& compiler) {
  return check_many("products", 36, compiler, draw_product, jit::gemm, check_product);
}
bool check_attention(jit::compiler& compiler) {
  return check_many("attention", 16, compiler, draw_heads, jit::attention, check_heads);
}
