// SPDX-License-Identifier: MIT
// Fills and checks operands on the device. The check shares nothing with the kernels that it judges.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "operand_pool.hpp"

namespace gpu_benchmark {
namespace {

using float8 = __nv_fp8_e4m3;

__device__ std::uint64_t mixed(std::uint64_t x) {  // the finaliser of splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class T>
__global__ void fill_gaussian(T* p, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * blockDim.x) {
    const std::uint64_t bits = mixed(seed ^ mixed(i));
    const float u = (float(bits >> 40) + 0.5f) * 0x1p-24f, v = float(bits & 0xffffff) * 0x1p-24f;
    p[i] = T(sqrtf(-2 * logf(u)) * cospif(2 * v));  // Box-Muller
  }
}

template <class T>
__global__ void fill_nan(T* p, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * blockDim.x)
    p[i] = T(NAN);
}

/// One warp computes one entry.
template <class T, class C>
__global__ void compute_entries(problem p, const T* a, const T* b, const C* c, const std::int64_t* entries, int count,
                                double* exact, double* found) {
  const int warp = int((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = int(threadIdx.x % 32);
  if (warp >= count) return;
  const std::int64_t row = entries[warp] / p.n, col = entries[warp] % p.n;
  double sum = 0;
  for (std::int64_t i = lane; i < p.k; i += 32) {
    sum += double(float(p.a_col_major ? a[i * p.m + row] : a[row * p.k + i])) *
           double(float(p.b_col_major ? b[col * p.k + i] : b[i * p.n + col]));
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) {
    exact[warp] = sum;
    found[warp] = double(float(c[entries[warp]]));
  }
}

template <class C>
__global__ void count_not_finite(const C* c, std::size_t count, unsigned long long* found) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * blockDim.x) {
    if (!isfinite(float(c[i]))) atomicAdd(found, 1ull);
  }
}

template <class C>
__global__ void sum_squares(const C* x, const C* y, std::size_t count, double* sums) {
  double difference = 0, norm = 0;
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * blockDim.x) {
    const double xi = float(x[i]), yi = float(y[i]);
    difference += (xi - yi) * (xi - yi);
    norm += yi * yi;
  }
  atomicAdd(&sums[0], difference);
  atomicAdd(&sums[1], norm);
}

constexpr int blocks = 1024, threads = 256;

template <class F>
void with_element(element type, F&& f) {
  if (type == element::f16) return f(__half{});
  if (type == element::bf16) return f(__nv_bfloat16{});
  return f(float8{});
}

template <class F>
void with_c_element(const problem& p, F&& f) {
  if (p.c_type() == element::f16) return f(__half{});
  return f(__nv_bfloat16{});
}

template <class T>
std::vector<T> downloaded(const buffer& from, std::size_t count) {
  std::vector<T> to(count);
  check(cudaMemcpy(to.data(), from.data(), count * sizeof(T), cudaMemcpyDeviceToHost), "copying from the GPU");
  return to;
}

/// Rows or columns worth a look: the first and last, and those beside multiples of 64, up to a bound;
/// and some random ones.
std::vector<std::int64_t> interesting(std::int64_t length, std::uint64_t& state) {
  std::set<std::int64_t> some{0, length - 1};
  const auto add = [&](std::int64_t i) {
    if (i >= 0 && i < length) some.insert(i);
  };
  for (std::int64_t edge : {64, 128, 192, 256}) {
    for (std::int64_t i : {edge - 1, edge}) {
      add(i);
      add(length / edge * edge - (i - edge) - 1);
    }
  }
  for (int i = 0; i < 48; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    add(std::int64_t((state >> 33) % std::uint64_t(length)));
  }
  return {some.begin(), some.end()};
}

}  // namespace

operand_pool::operand_pool(const problem& p, std::uint64_t seed) {
  constexpr std::size_t beyond_l2 = std::size_t(256) << 20, most = 256;
  const auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  const std::size_t a_bytes = aligned(p.a_bytes()), b_bytes = aligned(p.b_bytes()),
                    set_bytes = a_bytes + b_bytes + aligned(p.c_bytes());
  const std::size_t count = std::clamp<std::size_t>((beyond_l2 + set_bytes - 1) / set_bytes, 2, most);
  memory_ = buffer(count * set_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    char* const a = static_cast<char*>(memory_.data()) + i * set_bytes;
    char* const b = a + a_bytes;
    char* const c = b + b_bytes;
    with_element(p.type, [&](auto t) {
      using T = decltype(t);
      fill_gaussian<<<blocks, threads>>>(reinterpret_cast<T*>(a), std::size_t(p.m * p.k), seed + 2 * i);
      fill_gaussian<<<blocks, threads>>>(reinterpret_cast<T*>(b), std::size_t(p.k * p.n), seed + 2 * i + 1);
    });
    check(cudaGetLastError(), "filling the operands");
    sets_.push_back({a, b, c});
  }
}

void operand_pool::poison(const problem& p) {
  for (const operands& o : sets_) {
    with_c_element(
        p, [&](auto t) { fill_nan<<<blocks, threads>>>(static_cast<decltype(t)*>(o.c), std::size_t(p.m * p.n)); });
  }
  check(cudaGetLastError(), "poisoning the results");
}

deviation compare_with_double(const problem& p, const operands& o, std::uint64_t seed) {
  std::vector<std::int64_t> entries;
  for (std::int64_t row : interesting(p.m, seed)) {
    for (std::int64_t col : interesting(p.n, seed)) entries.push_back(row * p.n + col);
  }
  const int count = int(entries.size());
  buffer where(entries.size() * 8), exact_memory(entries.size() * 8), found_memory(entries.size() * 8), bad(8);
  check(cudaMemcpy(where.data(), entries.data(), entries.size() * 8, cudaMemcpyHostToDevice), "copying to the GPU");
  check(cudaMemset(bad.data(), 0, 8), "clearing a counter");
  with_c_element(p, [&](auto c) {
    using C = decltype(c);
    with_element(p.type, [&](auto t) {
      using T = decltype(t);
      compute_entries<<<(count * 32 + threads - 1) / threads, threads>>>(
          p, static_cast<const T*>(o.a), static_cast<const T*>(o.b), static_cast<const C*>(o.c),
          static_cast<const std::int64_t*>(where.data()), count, static_cast<double*>(exact_memory.data()),
          static_cast<double*>(found_memory.data()));
    });
    count_not_finite<<<blocks, threads>>>(static_cast<const C*>(o.c), std::size_t(p.m * p.n),
                                          static_cast<unsigned long long*>(bad.data()));
  });
  check(cudaGetLastError(), "computing the reference");
  const auto exact = downloaded<double>(exact_memory, entries.size()),
             found = downloaded<double>(found_memory, entries.size());
  double error = 0, norm = 0, worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double e = std::abs(found[i] - exact[i]);
    error += e * e;
    norm += exact[i] * exact[i];
    if (!(e <= worst)) worst = std::isnan(e) ? 1e30 : e;
  }
  return {std::sqrt(error / norm), worst / std::sqrt(norm / double(exact.size())), std::int64_t(exact.size()),
          std::int64_t(downloaded<unsigned long long>(bad, 1)[0])};
}

double difference(const problem& p, const void* x, const void* y) {
  buffer sums(16);
  check(cudaMemset(sums.data(), 0, 16), "clearing sums");
  with_c_element(p, [&](auto t) {
    using C = decltype(t);
    sum_squares<<<blocks, threads>>>(static_cast<const C*>(x), static_cast<const C*>(y), std::size_t(p.m * p.n),
                                     static_cast<double*>(sums.data()));
  });
  check(cudaGetLastError(), "comparing results");
  const auto s = downloaded<double>(sums, 2);
  return std::sqrt(s[0] / s[1]);
}

}  // namespace gpu_benchmark
