// SPDX-License-Identifier: MIT
// Kernels of models that the library has ready, on a GPU against double precision: rows, transposes, decoding,
// gradients of attention, grouped products.
//   nvcc -x cu -std=c++20 -arch=sm_90a -I include tests/gpu/library_kernels.hip -o kernels && ./kernels
#include "../max_error.hpp"

#include <tilewright/kernels/attention/backward/attention_backward.hpp>
#include <tilewright/kernels/attention/decode/attention_decode.hpp>
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/rows/cross_entropy.hpp>
#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/softmax.hpp>
#include <tilewright/kernels/tensor/map_tensor.hpp>
#include <tilewright/launch/launch.hpp>

#include "../../tools/gpu/runtime.hpp"

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

namespace tw = tilewright;
using tw::index_t, tw::half_t, tw::bfloat16_t;
using doubles = std::vector<double>;

constexpr index_t rows = 37, cols = 1000;

template <class Arch>
using softmax = tw::softmax<Arch, half_t, tw::choose_row_tile(cols, 8)>;
template <class Arch>
using log_softmax = tw::softmax<Arch, float, tw::choose_row_tile(cols, 4), tw::softmax_kind::log_softmax>;
template <class Arch>
using rms_norm = tw::row_norm<Arch, bfloat16_t, tw::choose_row_tile(cols, 8)>;
template <class Arch>
using layer_norm = tw::row_norm<Arch, float, tw::choose_row_tile(cols, 4), tw::norm_kind::layer_norm>;
template <class Arch>
using cross_entropy = tw::cross_entropy<Arch, float, tw::choose_row_tile(cols, 4)>;
template <class Arch>
using transpose = tw::map_tensor<Arch, half_t>;

constexpr index_t dim = 64;
template <class Arch>
struct forward_policy : tw::attention_policy<Arch, half_t, dim> {};
template <class Arch>
using forward = tw::attention_forward<forward_policy<Arch>>;
template <class Arch>
struct backward_policy : tw::attention_backward_policy<Arch, half_t, dim> {};
template <class Arch>
using backward = tw::attention_backward<backward_policy<Arch>>;
template <class Arch>
struct decode_policy : tw::attention_decode_policy<Arch, half_t, dim> {};
template <class Arch>
using decode = tw::attention_decode<decode_policy<Arch>>;
template <class Arch>
using grouped = tw::grouped_gemm_kernel<
    tw::grouped<tw::gemm_policy<Arch, half_t, tw::operand_major::k, tw::operand_major::k, 8>, tw::group_kind::rows>>;

/// The same numbers on the host and on the GPU, rounded to T.
template <class T>
struct numbers {
  std::vector<T> host;
  gpu::buffer<T> device;

  numbers(index_t count, float scale, unsigned seed)
      : host(random(count, scale, seed)), device(host.data(), host.size()) {}
  double operator()(index_t i) const { return double(float(host[std::size_t(i)])); }
  T* data() const { return device.data(); }
  doubles result() const {
    doubles values;
    for (const T x : device.download()) values.push_back(double(float(x)));
    return values;
  }

  static std::vector<T> random(index_t count, float scale, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> gaussian(0, scale);
    std::vector<T> values;
    for (index_t i = 0; i < count; ++i) values.push_back(T(gaussian(generator)));
    return values;
  }
};

bool all_right = true;

/// Compares with what should be there; the error is relative to the largest wanted number.
void compare(const char* name, const doubles& found, const doubles& wanted, double allowed) {
  gpu::check(TILEWRIGHT_GPU(DeviceSynchronize)(), "running a kernel");
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double error = std::fabs(found[i] - wanted[i]);
    worst = max_error(worst, error);
    largest = std::fmax(largest, std::fabs(wanted[i]));
  }
  const bool is_right = worst <= allowed * largest;
  std::printf("%-20s %s  error %.2e of the largest, allowed %.2e\n", name, is_right ? "PASS" : "FAIL", worst / largest,
              allowed);
  all_right = all_right && is_right;
}

double log_sum(const numbers<float>& x, index_t row) {
  double sum = 0;
  for (index_t c = 0; c < cols; ++c) sum += std::exp(x(row * cols + c));
  return std::log(sum);
}

void check_rows() {
  const numbers<half_t> x16(rows * cols, 2, 1), y16(rows * cols, 0, 1);
  const numbers<float> x(rows * cols, 2, 2), y(rows * cols, 0, 1), loss(rows, 0, 1), weight(cols, 1, 3),
      bias(cols, 1, 4);
  doubles probabilities, logs, losses, normed;
  std::vector<index_t> target;
  for (index_t r = 0; r < rows; ++r) {
    double sum = 0, mean = 0, variance = 0;
    target.push_back(r * 31 % cols);
    for (index_t c = 0; c < cols; ++c) {
      sum += std::exp(x16(r * cols + c));
      mean += x(r * cols + c) / cols;
    }
    for (index_t c = 0; c < cols; ++c) variance += (x(r * cols + c) - mean) * (x(r * cols + c) - mean) / cols;
    for (index_t c = 0; c < cols; ++c) {
      probabilities.push_back(std::exp(x16(r * cols + c)) / sum);
      logs.push_back(x(r * cols + c) - log_sum(x, r));
      normed.push_back((x(r * cols + c) - mean) / std::sqrt(variance + 1e-5) * weight(c) + bias(c));
    }
    losses.push_back(log_sum(x, r) - x(r * cols + target.back()));
  }
  tw::launch<softmax>(tw::softmax_args<half_t>{x16.data(), y16.data(), rows, cols, cols, cols});
  compare("softmax, f16", y16.result(), probabilities, 0x1p-10);
  tw::launch<log_softmax>(tw::softmax_args<float>{x.data(), y.data(), rows, cols, cols, cols});
  compare("log_softmax, f32", y.result(), logs, 1e-6);
  const gpu::buffer<index_t> targets(target.data(), target.size());
  tw::cross_entropy_args<float> entropy;
  entropy.x = x.data(), entropy.target = targets.data(), entropy.loss = loss.data();
  entropy.rows = rows, entropy.cols = entropy.x_stride = cols;
  tw::launch<cross_entropy>(entropy);
  compare("cross_entropy, f32", loss.result(), losses, 1e-6);
  tw::norm_args<float> norm{.x = x.data(), .weight = weight.data(), .bias = bias.data(), .y = y.data()};
  norm.rows = rows, norm.cols = norm.x_stride = norm.y_stride = cols;
  tw::launch<layer_norm>(norm);
  compare("layer_norm, f32", y.result(), normed, 2e-6);
}

void check_rms_norm() {
  const numbers<bfloat16_t> x(rows * cols, 1, 5), residual(rows * cols, 1, 6), weight(cols, 1, 7), y(rows * cols, 0, 1);
  doubles wanted;
  for (index_t r = 0; r < rows; ++r) {
    doubles s;
    double squares = 0;
    for (index_t c = 0; c < cols; ++c) {
      s.push_back(double(float(bfloat16_t(float(x(r * cols + c) + residual(r * cols + c))))));
      squares += s.back() * s.back();
    }
    for (index_t c = 0; c < cols; ++c)
      wanted.push_back(s[std::size_t(c)] / std::sqrt(squares / cols + 1e-5) * weight(c));
  }
  tw::norm_args<bfloat16_t> args{.x = x.data(), .residual = residual.data(), .sum = residual.data()};
  args.weight = weight.data(), args.y = y.data(), args.rows = rows;
  args.cols = args.x_stride = args.residual_stride = args.sum_stride = args.y_stride = cols;
  tw::launch<rms_norm>(args);
  compare("rms_norm, bf16", y.result(), wanted, 0x1p-8);
}

void check_transpose() {
  const numbers<half_t> x(rows * cols, 1, 8), y(rows * cols, 0, 1);
  doubles wanted;
  for (index_t c = 0; c < cols; ++c) {
    for (index_t r = 0; r < rows; ++r) wanted.push_back(x(r * cols + c));
  }
  using in = tw::strided_tensor<const half_t>;
  tw::launch<transpose>(
      tw::map_args<half_t, half_t>{in(x.data(), {rows, cols}).permuted({1, 0}), {y.data(), {cols, rows}}});
  compare("transpose, f16", y.result(), wanted, 0);
}

void check_grouped() {
  const std::vector<index_t> ends{3, 3, 132, 200};
  constexpr index_t n = 136, k = 72, m = 200, groups = 4;
  const numbers<half_t> a(m * k, 1, 9), b(groups * n * k, 1, 10), c(m * n, 0, 1);
  doubles wanted;
  for (index_t i = 0, group = 0; i < m; ++i) {
    while (i >= ends[std::size_t(group)]) ++group;
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t l = 0; l < k; ++l) sum += a(i * k + l) * b((group * n + j) * k + l);
      wanted.push_back(sum);
    }
  }
  const gpu::buffer<index_t> device_ends(ends.data(), ends.size());
  tw::grouped_args args;
  args.a = a.data(), args.b = b.data(), args.c = c.data();
  args.m = m, args.n = args.ldc = n, args.k = args.lda = args.ldb = k;
  args.batch_stride_b = n * k, args.groups = groups, args.ends = device_ends.data();
  tw::launch<grouped>(args);
  compare("grouped_gemm, f16", c.result(), wanted, 0x1p-10);
}

struct attention_problem {
  static constexpr index_t queries = 70, keys = 90;
  static constexpr double scale = 0.125;
  numbers<half_t> q{queries * dim, 1, 11}, k{keys * dim, 1, 12}, v{keys * dim, 1, 13}, d_o{queries * dim, 1, 14};
  doubles o = doubles(queries * dim), d_q = o, d_k = doubles(keys * dim), d_v = d_k;

  attention_problem() {
    for (index_t i = 0; i < queries; ++i) {
      doubles p(keys), d_p(keys);
      double sum = 0, delta = 0;
      for (index_t j = 0; j < keys; ++j) {
        double s = 0;
        for (index_t d = 0; d < dim; ++d) {
          s += q(i * dim + d) * k(j * dim + d);
          d_p[std::size_t(j)] += d_o(i * dim + d) * v(j * dim + d);
        }
        sum += p[std::size_t(j)] = std::exp(s * scale);
      }
      for (index_t j = 0; j < keys; ++j) delta += (p[std::size_t(j)] /= sum) * d_p[std::size_t(j)];
      for (index_t j = 0; j < keys; ++j) {
        const double probability = p[std::size_t(j)], d_s = probability * (d_p[std::size_t(j)] - delta) * scale;
        for (index_t d = 0; d < dim; ++d) {
          o[std::size_t(i * dim + d)] += probability * v(j * dim + d);
          d_v[std::size_t(j * dim + d)] += probability * d_o(i * dim + d);
          d_q[std::size_t(i * dim + d)] += d_s * k(j * dim + d);
          d_k[std::size_t(j * dim + d)] += d_s * q(i * dim + d);
        }
      }
    }
  }

  template <class Args>
  void set(Args& args) const {
    args.q = q.data(), args.k = k.data(), args.v = v.data();
    args.batch = args.heads = args.kv_heads = 1, args.queries = queries, args.keys = keys, args.scale = float(scale);
    args.q_strides = args.k_strides = args.v_strides = args.o_strides = {0, 0, dim};
  }
};

void check_attention() {
  const attention_problem p;
  const numbers<half_t> o(p.queries * dim, 0, 1), d_q(p.queries * dim, 0, 1), d_k(p.keys * dim, 0, 1),
      d_v(p.keys * dim, 0, 1);
  const numbers<float> lse(p.queries, 0, 1);
  tw::attention_decode_args few;
  p.set(few);
  few.o = o.data();
  tw::launch<decode>(few);
  compare("attention_decode", o.result(), p.o, 0x1p-9);

  tw::attention_backward_args args;
  p.set(args);
  args.o = o.data(), args.lse = lse.data(), args.lse_strides.row = 1;
  tw::launch<forward>(static_cast<const tw::attention_args&>(args));
  compare("attention_forward", o.result(), p.o, 0x1p-9);
  const gpu::buffer<char> workspace(std::size_t(tw::workspace_bytes(args)));
  args.workspace = workspace.data(), args.d_o = p.d_o.data();
  args.d_q = d_q.data(), args.d_k = d_k.data(), args.d_v = d_v.data();
  args.d_o_strides = args.d_q_strides = args.d_k_strides = args.d_v_strides = {0, 0, dim};
  tw::launch<backward>(args);
  compare("gradient of Q", d_q.result(), p.d_q, 0x1p-8);
  compare("gradient of K", d_k.result(), p.d_k, 0x1p-8);
  compare("gradient of V", d_v.result(), p.d_v, 0x1p-8);
}

}  // namespace

int main() {
  check_rows();
  check_rms_norm();
  check_transpose();
  check_grouped();
  check_attention();
  return all_right ? 0 : 1;
}
