// SPDX-License-Identifier: MIT
// Products in double precision on an NVIDIA GPU, a thread for each element of C: shares nothing with the kernels that
// it judges, not even the conversions of their elements.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "../../tools/gemm/hopper_kernels.hpp"

namespace product_check {

namespace tw = tilewright;
using tw::index_t, tw::long_index_t;

inline constexpr int blocks = 1024, threads = 256;

/// NaN of 16 bits (as f16 and bf16), or of 8 (e4m3): between lines of matrices, and in a C that must not be read.
inline constexpr unsigned nan_bits = 0x7fa5, nan_bits_of_8 = 0x7f;

/// A batch of matrices in memory: `lines` of `length` elements that follow each other.
struct lines_of {
  index_t lines = 0, length = 0, ld = 0, batch = 1;
  long_index_t batch_stride = 0;
  long_index_t first = 0, after = 0;  // elements before it, and after it

  __host__ __device__ long_index_t places() const {
    return first + (batch - 1) * batch_stride + (lines - 1) * long_index_t(ld) + length + after;
  }
};

/// Where an element lies in a batch; `line` is -1 where a place has no element.
struct spot {
  long_index_t z, line, at;
};
__device__ inline spot spot_of(const lines_of& m, long_index_t place) {
  const long_index_t j = place - m.first, z = m.batch_stride ? j / m.batch_stride : 0, inside = j - z * m.batch_stride;
  const spot s{z, inside / m.ld, inside % m.ld};
  return j >= 0 && z < m.batch && s.line < m.lines && s.at < m.length ? s : spot{0, -1, 0};
}

__device__ inline std::uint64_t mixed(std::uint64_t x) {  // the finaliser of splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Gaussian numbers, and NaN where there is no element.
template <class T>
__global__ void fill(T* to, lines_of m, std::uint64_t seed) {
  for (long_index_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m.places(); i += gridDim.x * blockDim.x) {
    const std::uint64_t bits = mixed(seed ^ mixed(std::uint64_t(i)));
    const float u = (float(bits >> 40) + 0.5f) * 0x1p-24f, v = float(bits & 0xffffff) * 0x1p-24f;
    to[i] = T(sqrtf(-2 * logf(u)) * cospif(2 * v));  // Box-Muller
    if (spot_of(m, i).line >= 0) continue;
    if constexpr (sizeof(T) == 4) to[i] = T(NAN);
    if constexpr (sizeof(T) == 2) *reinterpret_cast<unsigned short*>(to + i) = static_cast<unsigned short>(nan_bits);
    if constexpr (sizeof(T) == 1) *reinterpret_cast<unsigned char*>(to + i) = static_cast<unsigned char>(nan_bits_of_8);
  }
}

struct verdict {
  unsigned long long wrong, outside;  // elements; places that belong to none and were written
  unsigned long long first;           // the place of the first of both
  double found, wanted;               // there
  float worst;                        // error, of what is allowed
};

/// What an element may differ from the exact one: `rounding` of itself, and `adding` of the sum of magnitudes.
struct allowed {
  double rounding, adding;
};

__device__ inline double activated(tw::activation kind, double x) {
  switch (kind) {
    case tw::activation::relu: return x < 0 ? 0 : x;
    case tw::activation::gelu: return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case tw::activation::silu: return x / (1 + exp(-x));
    case tw::activation::none: break;
  }
  return x;
}

/// An element of C as it should be, and the sum of the magnitudes of what was added up.
template <class T, class R>
__device__ double exact(const tw::gemm_args& g, bool a_along_k, bool b_along_k, const spot& s, double old,
                        double& magnitude) {
  const T* const a = static_cast<const T*>(g.a) + s.z * g.batch_stride_a + (a_along_k ? s.line * g.lda : s.line);
  const T* const b = static_cast<const T*>(g.b) + s.z * g.batch_stride_b + (b_along_k ? s.at * g.ldb : s.at);
  const long_index_t a_step = a_along_k ? 1 : g.lda, b_step = b_along_k ? 1 : g.ldb;
  double x = 0, sum = 0;
  for (index_t k = 0; k < g.k; ++k) {
    const double product = double(float(a[k * a_step])) * double(float(b[k * b_step]));
    x += product, sum += fabs(product);
  }
  double factor = g.alpha;
  if (g.scale) factor *= *g.scale;
  if (g.row_scale) factor *= g.row_scale[s.line];
  if (g.column_scale) factor *= g.column_scale[s.at];
  x *= factor, sum *= fabs(factor);
  const auto add = [&](double y) { x += y, sum += fabs(y); };
  if (g.bias) add(double(float(static_cast<const R*>(g.bias)[s.at])));
  x = activated(g.activation, x);
  if (g.residual)
    add(double(
        float(static_cast<const R*>(g.residual)[s.z * g.batch_stride_residual + s.line * g.ld_residual + s.at])));
  if (g.beta != 0) add(g.beta * old);
  magnitude = sum;
  return x;
}

/// Compares C, and what lies around it. `old`: what C was.
template <class T, class R>
__global__ void check_all(tw::gemm_args g, bool a_along_k, bool b_along_k, const R* all, const R* old, lines_of m,
                          allowed allow, verdict* v) {
  for (long_index_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m.places(); i += gridDim.x * blockDim.x) {
    const spot s = spot_of(m, i);
    const double found = double(float(all[i]));
    if (s.line < 0) {
      if (reinterpret_cast<const unsigned short*>(all)[i] == nan_bits) continue;
      atomicAdd(&v->outside, 1ull);
      if (atomicMin(&v->first, std::uint64_t(i)) > std::uint64_t(i)) v->found = found, v->wanted = NAN;
      continue;
    }
    double magnitude = 0;
    const double wanted = exact<T, R>(g, a_along_k, b_along_k, s, double(float(old[i])), magnitude);
    const double error = fabs(found - wanted) / (allow.rounding * fabs(wanted) + allow.adding * magnitude + 0x1p-24);
    atomicMax(reinterpret_cast<int*>(&v->worst),
              __float_as_int(float(error)));  // orders positive floats, and NaN above
    if (error <= 1) continue;
    atomicAdd(&v->wrong, 1ull);
    if (atomicMin(&v->first, std::uint64_t(i)) > std::uint64_t(i)) v->found = found, v->wanted = wanted;
  }
}

}  // namespace product_check
