// SPDX-License-Identifier: MIT
// A kernel with more loads in flight than registers for two waves of a SIMD, unless waves_per_simd limits them.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/core/base/sequence.hpp>
#include <tilewright/launch/run_kernel.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tw = tilewright;
using tw::index_t;

struct sum_args {
  const float* from = nullptr;
  float* to = nullptr;
};

struct sums {
  using args_type = sum_args;
  using arch = tw::arch::current;
  static constexpr index_t block_size = 256, lds_bytes = 0, waves_per_simd = ISA_WAVES_PER_SIMD;
  static constexpr const char* check(const sum_args&) { return nullptr; }
  static constexpr tw::exec::block_index grid(const sum_args&) { return {1}; }
  TILEWRIGHT_HD void operator()(const sum_args& args) const {
    constexpr index_t count = 300;
    float x[count];
    tw::unroll<count>([&](auto i) { x[i.value] = args.from[i.value * block_size + tw::exec::thread_id()]; });
    tw::exec::schedule_fence();
    float sum = 0;
    tw::unroll<count>([&](auto i) { sum = sum * x[i.value] + x[count - 1 - i.value]; });
    args.to[tw::exec::thread_id()] = sum;
  }
};
template __attribute__((global)) void tw::run_kernel<sums, sum_args>(const sum_args);
