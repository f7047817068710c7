// SPDX-License-Identifier: MIT
// Three kernels whose emulation docs/check.md times: GEMM (f16), the sum of an array (f32), attention (f16).
//   tilewright-check --time speed gemm|sum|attention [SIZE]
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/launch/launch.hpp>

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../examples/05_gemm/device_vector.hpp"
#include "../../examples/05_gemm/gemm_kernel.hpp"

namespace speed {
namespace tw = tilewright;
using gemm_example::device_vector, tw::half_t, tw::index_t;

std::vector<half_t> numbers(index_t count) {
  std::vector<half_t> values;
  for (index_t i = 0; i < count; ++i) values.push_back(half_t(float(i * 7 % 5 - 2)));
  return values;
}

void gemm(index_t n) {
  device_vector a(numbers(n * n)), b(numbers(n * n)), bias(numbers(n)), c(numbers(n * n));
  tw::launch<gemm_example::kernel>(tw::gemm_args{.a = a.data(),
                                                 .b = b.data(),
                                                 .c = c.data(),
                                                 .m = n,
                                                 .n = n,
                                                 .k = n,
                                                 .lda = n,
                                                 .ldb = n,
                                                 .ldc = n,
                                                 .bias = bias.data()},
                                   {.stream = nullptr});
  std::printf("gemm: C(1, 1) = %g\n", double(float(c.to_host()[std::size_t(n + 1)])));
}

template <class Arch>
struct attention_kernel : tw::attention_forward<tw::attention_policy<Arch, half_t, 64>> {};
void attention(index_t n) {
  constexpr index_t heads = 2, d = 64;
  device_vector q(numbers(n * heads * d)), k(numbers(n * heads * d)), v(numbers(n * heads * d)),
      o(numbers(n * heads * d));
  tw::attention_args args;
  args.q = q.data(), args.k = k.data(), args.v = v.data(), args.o = o.data();
  args.heads = args.kv_heads = heads, args.queries = args.keys = n, args.scale = 0.125f;
  args.q_strides = args.k_strides = args.v_strides = args.o_strides = {.batch = 0, .head = d, .row = heads * d};
  tw::launch<attention_kernel>(args, {.stream = nullptr});
  std::printf("attention: O(1, 1) = %g\n", double(float(o.to_host()[heads * d + 1])));
}

// Blocks of 256 threads add 16 bytes a thread and step, then by halves in LDS.
__device__ void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
using vector = float __attribute__((ext_vector_type(4)));
constexpr int blocks = 64;
__global__ __launch_bounds__(256) void add_up(const vector* x, float* sums, int n) {
  __shared__ float part[256];
  const int thread = int(__builtin_amdgcn_workitem_id_x()), block = int(__builtin_amdgcn_workgroup_id_x());
  float sum = 0;
  for (int i = block * 256 + thread; i < n; i += blocks * 256) {
    const vector v = x[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  part[thread] = sum;
  for (int half = 128; half > 0; half /= 2) {
    barrier();
    if (thread < half) part[thread] += part[thread + half];
  }
  if (thread == 0) sums[block] = part[0];
}
void sum(index_t n) {
  device_vector x(std::vector<float>(std::size_t(n), 0.5f)), sums(std::vector<float>(blocks, 0.0f));
  add_up<<<blocks, 256>>>(reinterpret_cast<const vector*>(x.data()), sums.data(), n / 4);
  double total = 0;
  for (const float part : sums.to_host()) total += double(part);
  std::printf("sum: %g\n", total);
}
}  // namespace speed

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  const int size = argc > 2 ? std::atoi(argv[2]) : 0;
  if (which == "gemm") return speed::gemm(size > 0 ? size : 512), 0;
  if (which == "sum") return speed::sum(size > 0 ? size : 1 << 24), 0;
  if (which == "attention") return speed::attention(size > 0 ? size : 512), 0;
  return std::fprintf(stderr, "usage: speed gemm|sum|attention [SIZE]\n"), 2;
}
