// SPDX-License-Identifier: MIT
// Gradients of attention by wgmma on a GPU: with block masks against the portable kernel, which is also timed; of Q, K
// and V in 8 bits against those of the same numbers in 16 bits, bit for bit.
//   nvcc -std=c++20 -arch=sm_90a -I include tests/gpu/attention_gradients.cu -o gradients && ./gradients
#include <tilewright/kernels/attention/backward/hopper_backward.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention.hpp>
#include <tilewright/launch/launch.hpp>

#include "../../tools/gpu/runtime.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

namespace tw = tilewright;
using tw::index_t;
using element = tw::bfloat16_t;

template <class Policy>
struct masked : Policy {
  static constexpr bool has_block_mask = true;
};
template <class Policy>
struct of_8_bits : Policy {
  using input_type = tw::fp8_ocp_t;
};
template <index_t Dim>
struct forward : tw::hopper_attention_policy<element, Dim> {};
template <index_t Dim>
struct on_hopper : tw::wgmma_backward_policy<element, Dim> {};
template <index_t Dim>
struct in_order
    : tw::wgmma_backward_policy<element, Dim, Dim, tw::hopper_backward_tile{Dim <= 64 ? 128 : 64, 2, true}> {};
template <index_t Dim>
struct portable : tw::attention_backward_policy<tw::arch::sm90, element, Dim> {};

bool all_right = true;
void report(const std::string& name, index_t dim, bool is_right, double error, const std::string& times) {
  std::printf("%-24s d %-3d %s  relative error %.2e; %s\n", name.c_str(), dim, is_right ? "PASS" : "FAIL", error,
              times.c_str());
  all_right = all_right && is_right;
}
std::string in_us(const char* name, double us) { return std::string(name) + " " + std::to_string(int(us)) + " us"; }

/// Heads of `length` queries and keys, (batch, head, row, dim); two heads share a key head.
template <index_t Dim>
struct problem {
  index_t batch, heads, length;
  std::size_t q_elements = std::size_t(batch * heads) * std::size_t(length) * Dim, k_elements = q_elements / 2;
  std::mt19937 random{1};
  std::vector<tw::fp8_ocp_t> host_q = draw(q_elements), host_k = draw(k_elements), host_v = draw(k_elements);
  gpu::buffer<tw::fp8_ocp_t> q8{host_q.data(), q_elements}, k8{host_k.data(), k_elements},
      v8{host_v.data(), k_elements};
  std::vector<float> host_q_scales = powers(batch * heads), host_k_scales = powers(batch * heads / 2),
                     host_v_scales = powers(batch * heads / 2);
  gpu::buffer<float> q_scales{host_q_scales.data(), host_q_scales.size()},
      k_scales{host_k_scales.data(), host_k_scales.size()}, v_scales{host_v_scales.data(), host_v_scales.size()};
  std::vector<element> wide_q = widen(host_q, host_q_scales), wide_k = widen(host_k, host_k_scales),
                       wide_v = widen(host_v, host_v_scales), host_d_o = widen(draw(q_elements), host_q_scales);
  gpu::buffer<element> q{wide_q.data(), q_elements}, k{wide_k.data(), k_elements}, v{wide_v.data(), k_elements},
      d_o{host_d_o.data(), q_elements}, o{q_elements}, d_q{q_elements}, d_k{k_elements}, d_v{k_elements};
  gpu::buffer<float> lse{q_elements / Dim};

  std::vector<tw::fp8_ocp_t> draw(std::size_t count) {
    std::normal_distribution<float> gaussian;
    std::vector<tw::fp8_ocp_t> values(count);
    for (auto& x : values) x = tw::fp8_ocp_t(gaussian(random));
    return values;
  }
  std::vector<float> powers(index_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& x : values) x = std::ldexp(1.0f, -int(random() % 3));
    return values;
  }
  static std::vector<element> widen(const std::vector<tw::fp8_ocp_t>& values, const std::vector<float>& scales) {
    std::vector<element> result(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      result[i] = element(float(values[i]) * scales[i / (values.size() / scales.size())]);
    return result;
  }

  tw::attention_backward_args args() const {
    tw::attention_backward_args a;
    const tw::long_index_t rows = length;
    a.q = q.data(), a.k = k.data(), a.v = v.data(), a.o = o.data(), a.lse = lse.data(), a.d_o = d_o.data();
    a.d_q = d_q.data(), a.d_k = d_k.data(), a.d_v = d_v.data();
    a.batch = batch, a.heads = heads, a.kv_heads = heads / 2, a.queries = a.keys = length;
    a.q_strides = a.o_strides = a.d_o_strides = a.d_q_strides = {heads * rows * Dim, rows * Dim, Dim};
    a.k_strides = a.v_strides = a.d_k_strides = a.d_v_strides = {heads / 2 * rows * Dim, rows * Dim, Dim};
    a.lse_strides = {heads * rows, rows, 1};
    a.scale = 1 / std::sqrt(float(Dim));
    return a;
  }
  struct results {
    std::vector<element> d_q, d_k, d_v;
  };
  /// Launches a kernel and returns its gradients; `us`: of one more launch.
  template <class Policy>
  results run(tw::attention_backward_args a, double* us = nullptr) const {
    using kernel = tw::attention_backward<Policy>;
    const gpu::buffer<char> workspace(std::size_t(kernel::workspace_bytes(a)));
    a.workspace = workspace.data();
    tw::launch<kernel>(a);
    gpu::event begin, end;
    begin.record();
    constexpr int times = 10;
    for (int i = 0; us && i < times; ++i) tw::launch<kernel>(a);
    end.record();
    if (us) *us = 1e6 * end.seconds_since(begin) / times;
    results r{std::vector<element>(q_elements), std::vector<element>(k_elements), std::vector<element>(k_elements)};
    d_q.download(r.d_q.data()), d_k.download(r.d_k.data()), d_v.download(r.d_v.data());
    return r;
  }
};

/// The largest ||x - y|| / ||y|| of the three gradients.
template <class Results>
double difference(const Results& x, const Results& y) {
  double worst = 0;
  for (const auto member : {&Results::d_q, &Results::d_k, &Results::d_v}) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < (y.*member).size(); ++i) {
      const double a = double(float((x.*member)[i])), b = double(float((y.*member)[i]));
      error += (a - b) * (a - b), norm += b * b;
    }
    worst = error / norm <= worst * worst ? worst : std::sqrt(error / norm);  // NaN stays
  }
  return worst;
}

template <index_t Dim>
void check_masks() {
  const problem<Dim> p{4, 2048 / Dim, 4096};
  const index_t tiles = p.length / 128, words = 1;
  for (const unsigned one_of : {1u, 3u, 10u}) {
    std::mt19937 random(2);
    std::vector<unsigned> bits(std::size_t(p.heads * tiles * words));
    for (unsigned& word : bits)
      for (index_t i = 0; i < 32; ++i) word = word << 1 | unsigned(random() % one_of == 0);
    const gpu::buffer<unsigned> on_gpu(bits.data(), bits.size());
    auto args = p.args();
    args.block_mask = {128, 128, on_gpu.data(), {0, tiles * words, words}};
    tw::launch<tw::attention_forward<masked<forward<Dim>>>>(static_cast<const tw::attention_args&>(args));
    double us = 0, us_in_order = 0, us_portable = 0;
    const auto mine = p.template run<masked<on_hopper<Dim>>>(args, &us),
               ordered = p.template run<masked<in_order<Dim>>>(args, &us_in_order),
               theirs = p.template run<masked<portable<Dim>>>(args, &us_portable);
    const double error = std::fmax(difference(mine, theirs), difference(ordered, theirs));
    report("block mask, 1 tile of " + std::to_string(one_of), Dim, error < 1e-2, error,
           in_us("wgmma", us) + in_us(", in order", us_in_order) + in_us(", portable", us_portable));
  }
}

template <index_t Dim>
void check_8_bits() {
  const problem<Dim> p{4, 2048 / Dim, 4096};
  auto args = p.args();
  tw::launch<tw::attention_forward<forward<Dim>>>(static_cast<const tw::attention_args&>(args));
  double us = 0, us_of_8_bits = 0;
  const auto wanted = p.template run<on_hopper<Dim>>(args, &us);
  args.q = p.q8.data(), args.k = p.k8.data(), args.v = p.v8.data();
  args.q_scales = p.q_scales.data(), args.k_scales = p.k_scales.data(), args.v_scales = p.v_scales.data();
  const auto got = p.template run<of_8_bits<on_hopper<Dim>>>(args, &us_of_8_bits);
  const auto is_same = [](const auto& x, const auto& y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(element)) == 0;
  };
  const double error = difference(got, wanted);
  report("8 bits", Dim, error < 1e-3 && is_same(got.d_k, wanted.d_k) && is_same(got.d_v, wanted.d_v), error,
         in_us("8 bits", us_of_8_bits) + in_us(", 16 bits", us));
}

}  // namespace

int main() {
  check_8_bits<64>();
  check_8_bits<128>();
  check_masks<64>();
  check_masks<128>();
  return all_right ? 0 : 1;
}
