// SPDX-License-Identifier: MIT
// GEMMs of layers with random numbers in memory, and the times of kernels that compute them.
#pragma once

#include <tilewright/jit/buffer.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace gemm_race {

namespace jit = tilewright::jit;
using tilewright::index_t;
using tilewright::long_index_t;

inline jit::compiler& gpu() {
  static jit::compiler only;
  return only;
}

/// Microseconds of a launch: the shortest of three batches that take about a millisecond each, or two launches.
template <class Args>
double microseconds_of(const jit::kernel& kernel, const Args& args) {
  using clock = std::chrono::steady_clock;
  const auto time = [&](int launches) {
    gpu().synchronize();
    const auto start = clock::now();
    for (int i = 0; i < launches; ++i) kernel(args);
    gpu().synchronize();
    return std::chrono::duration<double, std::micro>(clock::now() - start).count() / launches;
  };
  (void)time(1);
  const int launches = std::clamp(int(1000 / time(2)), 2, 40);
  return std::min({time(launches), time(launches), time(launches)});
}

/// A matrix of Gaussian numbers in f16: a GPU multiplies zeros faster, for want of a limit of power.
inline jit::buffer gaussian(std::size_t bytes) {
  std::vector<tilewright::half_t> some(1 << 20), all(bytes / 2);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (auto& x : some) x = tilewright::half_t(normal(random));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = some[i % some.size()];
  jit::buffer b = gpu().allocate(all.size() * 2);
  b.upload(all.data());
  return b;
}

/// Memory for any of random_gemm().
struct operands {
  jit::buffer a = gaussian(std::size_t{240} << 20), b = gaussian(std::size_t{480} << 20),
              c = gpu().allocate(std::size_t{480} << 20), workspace = gpu().allocate(std::size_t{64} << 20);
  operands() { workspace.clear(); }
  void give(tilewright::gemm_args& g) const {
    g.a = a.data(), g.b = b.data(), g.c = c.data(), g.workspace = workspace.data();
  }
};

/// GEMM number i of the layers of published models: half of them with 1 to 512 rows, half with up to 8,192; with a gate
/// n counts one product's columns.
inline jit::gemm_problem random_gemm(int i, bool has_gate, std::mt19937& random) {
  constexpr index_t nk[][2] = {{4096, 4096}, {28672, 4096}, {4096, 14336}, {10240, 8192}, {7168, 2048}, {2560, 2560}};
  const auto [columns, k] = nk[i % 6];
  const index_t n = has_gate ? columns / 2 : columns;
  const auto m =
      index_t(std::exp2(std::uniform_real_distribution<double>(i / 6 % 2 ? 9 : 0, i / 6 % 2 ? 13 : 9)(random)));
  jit::gemm_problem p{.has_gate = has_gate};
  p.args = {.m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n, .split_k = 0};
  if (has_gate) p.args.product_stride_b = long_index_t(n) * k;
  return p;
}
inline std::vector<jit::gemm_problem> random_gemms(int count, bool has_gate) {
  std::mt19937 random(11);
  std::vector<jit::gemm_problem> list;
  for (int i = 0; i < count; ++i) list.push_back(random_gemm(i, has_gate, random));
  return list;
}
inline std::string name_of(const jit::gemm_problem& p) {
  return std::to_string(p.args.m) + "x" + std::to_string(p.args.n) + "x" + std::to_string(p.args.k);
}

/// Microseconds of the kernel that a choice names, 1e30 if there is none; with one kernel for all lengths and
/// epilogues, or the one that jit compiles for the call.
inline double microseconds_of(jit::gemm_problem p, const std::string& choice, bool for_all_lengths) {
  p.policy = choice, p.for_all_lengths = for_all_lengths;
  try {
    const jit::kernel kernel = gpu().load(jit::gemm(p));
    tilewright::gemm_args args = p.args;
    args.split_k = 1;
    return microseconds_of(kernel, args);
  } catch (const jit::error&) {
    return 1e30;
  }
}

}  // namespace gemm_race
