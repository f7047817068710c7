// SPDX-License-Identifier: MIT
// A kernel that is written while the program runs: a filter whose weights, and the lengths of whose signal, become
// constants.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <tilewright/jit/compiler.hpp>

namespace {

namespace jit = tilewright::jit;

struct filter_args {
  const float* from;
  float* to;
};

/// to[i] = sum of weights[j] * from[i + j]: the loop over the weights is gone, and so is every multiplication by 0.
jit::kernel_source make_filter(const std::vector<float>& weights, int size) {
  std::string sum = "0.0f";
  for (std::size_t j = 0; j < weights.size(); ++j)
    if (weights[j] != 0) sum += " + " + std::to_string(weights[j]) + "f * args.from[i + " + std::to_string(j) + "]";
  return {.name = "filter_of_" + std::to_string(weights.size()),
          .code = R"(
struct filter_args { const float* from; float* to; };
template <index_t Size>
struct filter {
  using args_type = filter_args;
  static constexpr index_t block_size = 256, lds_bytes = 0;
  static constexpr const char* check(const filter_args&) { return Size > 0 ? nullptr : "the signal is shorter than the filter"; }
  static constexpr tw::exec::block_index grid(const filter_args&) { return {tw::ceil_div(Size, block_size)}; }
  TILEWRIGHT_HD void operator()(const filter_args& args) const {
    const index_t i = tw::exec::block_id().x * block_size + tw::exec::thread_id();
    if (i < Size) args.to[i] = )" +
                  sum + R"(;
  }
};
)",
          .kernel = "filter<" + std::to_string(size) + ">",
          .problem = "filter_args{}",
          .uses = {"machine/exec/exec.hpp", "core/base/math.hpp"}};
}

/// Largest difference from the filter computed here.
float run(jit::compiler& compiler, const std::vector<float>& weights, int size) {
  std::vector<float> from(std::size_t(size) + weights.size() - 1), to(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = float(i % 17) - 8;
  const jit::buffer from_gpu = compiler.allocate(from.size() * sizeof(float));
  const jit::buffer to_gpu = compiler.allocate(to.size() * sizeof(float));
  from_gpu.upload(from.data());

  const jit::kernel filter = compiler.load(make_filter(weights, size));
  filter(filter_args{static_cast<const float*>(from_gpu.data()), static_cast<float*>(to_gpu.data())});
  to_gpu.download(to.data());

  float worst = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) sum += weights[j] * from[i + j];
    worst = std::max(worst, std::abs(sum - to[i]));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::vector<float>> filters = {{0.25f, 0.5f, 0.25f}, {1, 0, 0, 0, -1}};
  try {
    if (argc > 1) {  // compile for a target without its GPU
      jit::compiler compiler({.target = argv[1]});
      for (const std::vector<float>& weights : filters) {
        const std::string code = compiler.code_object(make_filter(weights, 1000));
        std::printf("%s: a filter of %zu weights has %s\n", argv[1], weights.size(), code.empty() ? "no code" : "code");
      }
      return 0;
    }
    jit::compiler compiler;
    for (const std::vector<float>& weights : filters) {
      const bool is_right = run(compiler, weights, 1000) < 1e-5f;
      std::printf("a filter of %zu weights is %s\n", weights.size(), is_right ? "right" : "wrong");
      if (!is_right) return 1;
    }
  } catch (const jit::error& e) {
    std::printf("%s\n", e.what());
    return 2;
  }
}
