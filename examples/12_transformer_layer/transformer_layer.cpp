// SPDX-License-Identifier: MIT
// Runs the layer on this machine's GPU, or on the CPU emulator, and compares it with double precision.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <optional>
#include <random>

#include "layer.hpp"
#include "reference.hpp"

namespace {

using namespace layer_example;
using tilewright::half_t;

// Memory of the device: of the GPU, or of this program for the CPU emulator.
class memory {
 public:
  void* allocate(std::size_t bytes) {
    if (!gpu_) return blocks_.emplace_back(bytes + 64).data();
    return buffers_.emplace_back(gpu_->allocate(bytes)).data();
  }
  tw::tensor tensor_of(const std::vector<half_t>& data, std::initializer_list<tilewright::long_index_t> lengths) {
    const tw::tensor t = tw::packed(allocate(data.size() * 2), tw::element::f16, lengths);
    copy(t.data, data.data(), data.size() * 2);
    return t;
  }
  tw::tensor tensor_of(const std::vector<float>& data, std::initializer_list<tilewright::long_index_t> lengths) {
    const tw::tensor t = tw::packed(allocate(data.size() * 4), tw::element::f32, lengths);
    copy(t.data, data.data(), data.size() * 4);
    return t;
  }
  void read(void* to, const tw::tensor& from, std::size_t bytes) {
    for (const auto& b : buffers_)
      if (b.data() == from.data) return b.download(to);
    std::memcpy(to, from.data, bytes);
  }

 private:
  void copy(void* to, const void* from, std::size_t bytes) {
    if (gpu_)
      buffers_.back().upload(from);
    else
      std::memcpy(to, from, bytes);
  }
  std::optional<tilewright::jit::compiler> gpu_ =
      std::getenv("TILEWRIGHT_EMULATE") ? std::nullopt : std::optional<tilewright::jit::compiler>(std::in_place);
  std::list<tilewright::jit::buffer> buffers_;
  std::list<std::vector<char>> blocks_;
};

std::mt19937 generator(1);
std::vector<half_t> numbers(std::size_t count, float scale, float offset = 0) {
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<half_t> list(count);
  for (half_t& x : list) x = half_t(offset + uniform(generator));
  return list;
}
template <class T>
matrix as_double(const std::vector<T>& list) {
  return matrix(list.begin(), list.end());
}

int compare() {
  constexpr layer_shape s{.tokens = 37, .heads = 4, .kv_heads = 2, .dim = 32};
  constexpr std::size_t model = 120, hidden = 200, tokens = s.tokens, all = s.heads + 2 * s.kv_heads, dim = s.dim;
  const auto x = numbers(tokens * model, 1), norm_1 = numbers(model, 0.2f, 1), norm_2 = numbers(model, 0.2f, 1),
             qkv = numbers(model * all * dim, 0.15f), out = numbers(s.heads * dim * model, 0.15f),
             gate_up = numbers(2 * model * hidden, 0.15f), down = numbers(hidden * model, 0.15f);
  std::vector<float> cos(tokens * dim / 2), sin(cos.size());
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t i = 0; i < dim / 2; ++i) {
      const double angle = double(t) * std::pow(10000.0, -2.0 * double(i) / double(dim));
      cos[t * dim / 2 + i] = float(std::cos(angle)), sin[t * dim / 2 + i] = float(std::sin(angle));
    }
  memory device;
  const tw::tensor state = device.tensor_of(x, {tokens, model});
  const layer_weights w{device.tensor_of(norm_1, {model}),
                        device.tensor_of(qkv, {model, all * dim}),
                        device.tensor_of(out, {s.heads * dim, model}),
                        device.tensor_of(norm_2, {model}),
                        device.tensor_of(gate_up, {2, model, hidden}),
                        device.tensor_of(down, {hidden, model})};
  const auto scratch = [&](std::size_t count) { return std::vector<half_t>(count); };
  const layer_memory m{device.tensor_of(scratch(tokens * model), {tokens, model}),
                       device.tensor_of(scratch(tokens * all * dim), {tokens, all, dim}),
                       device.tensor_of(scratch(tokens * s.heads * dim), {tokens, s.heads, dim}),
                       device.tensor_of(scratch(tokens * hidden), {tokens, hidden})};
  const tw::tensor c = device.tensor_of(cos, {tokens, dim / 2}), n = device.tensor_of(sin, {tokens, dim / 2});
  for (const tw::explanation& e : tw::explain([&] { run_layer(state, w, m, s, c, n, nullptr); }))
    std::fprintf(stderr, "%s: %s for %s, %s; %s\n", e.operation.c_str(), e.kernel.c_str(), e.target.c_str(),
                 e.provider.c_str(), e.reason.c_str());
  run_layer(state, w, m, s, c, n, nullptr);
  std::vector<half_t> result(x.size());
  device.read(result.data(), state, result.size() * 2);

  const auto middle = gate_up.begin() + model * hidden;
  const matrix wanted = reference_layer(
      as_double(x),
      {as_double(norm_1), as_double(qkv), as_double(out), as_double(norm_2), matrix(gate_up.begin(), middle),
       matrix(middle, gate_up.end()), as_double(down), as_double(cos), as_double(sin)},
      tokens, s.heads, s.kv_heads, dim);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    error += (double(result[i]) - wanted[i]) * (double(result[i]) - wanted[i]);
    size += wanted[i] * wanted[i];
  }
  const bool is_right = std::sqrt(error / size) < 2e-3;
  std::printf("transformer layer: %s\n", is_right ? "correct" : "WRONG");
  if (!is_right) std::printf("relative error %.2g\n", std::sqrt(error / size));
  return is_right ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return compare();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
