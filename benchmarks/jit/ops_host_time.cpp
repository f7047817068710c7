// SPDX-License-Identifier: MIT
// How long a call of tilewright::ops takes on the host, once its kernel is in memory: the median of batches of calls
// that are queued one after another on this machine's GPU. With TILEWRIGHT_HIP_LIBRARY of tests/ops/stub_hip: without a
// driver.
#include <tilewright/ops.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <list>
#include <vector>

namespace {

namespace tw = tilewright::ops;

struct gpu_tensors {
  tilewright::jit::compiler gpu{{.cache = {.enabled = false}}};
  std::list<tilewright::jit::buffer> memory = {};

  tw::tensor make(std::initializer_list<tilewright::long_index_t> lengths, tw::element type = tw::element::f16) {
    std::size_t count = 1;
    for (const auto length : lengths) count *= std::size_t(length);
    const tilewright::jit::buffer& b = memory.emplace_back(gpu.allocate(4 * count));
    b.clear();
    return tw::packed(b.data(), type, lengths);
  }
};

/// Calls of a batch are few enough for the driver's queue.
double microseconds_of(gpu_tensors& on, const std::function<void()>& call) {
  using clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int batch = 0; batch < 50; ++batch) {
    call();
    on.gpu.synchronize();
    const auto start = clock::now();
    for (int i = 0; i < 100; ++i) call();
    times.push_back(std::chrono::duration<double, std::micro>(clock::now() - start).count() / 100);
    on.gpu.synchronize();
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

}  // namespace

int main() {
  gpu_tensors on;
  const tw::tensor a = on.make({256, 512}), b = tw::transposed(on.make({256, 512})), c = on.make({256, 256}),
                   bias = on.make({256}), x = on.make({64, 512}), y = on.make({64, 512}), weight = on.make({512}),
                   q = on.make({1, 128, 4, 64}), k = on.make({1, 128, 4, 64}), v = on.make({1, 128, 4, 64}),
                   o = on.make({1, 128, 4, 64}), q1 = on.make({8, 1, 4, 64}), keys = on.make({8, 512, 4, 64}),
                   o1 = on.make({8, 1, 4, 64});
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"gemm", [&] { tw::gemm(c, a, b); }},
      {"gemm, bias and silu", [&] { tw::gemm(c, a, b, {.bias = bias, .activate = tilewright::activation::silu}); }},
      {"rms_norm", [&] { tw::rms_norm(y, x, weight); }},
      {"softmax", [&] { tw::softmax(y, x); }},
      {"attention", [&] { tw::attention(o, q, k, v, {.causal = true}); }},
      {"attention_decode", [&] { tw::attention_decode(o1, q1, keys, keys); }},
      {"permute", [&] { tw::permute(tw::transposed(y), tw::transposed(x)); }},
  };
  for (const auto& [name, call] : calls) std::printf("%-20s %6.2f us\n", name, microseconds_of(on, call));
}
