// SPDX-License-Identifier: MIT
#include "clock_rate.hpp"

namespace gpu_benchmark {
namespace {

__device__ long long nanoseconds() {
  long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void count_clocks(long long* count) {
  const long long begin = nanoseconds(), clocks = clock64();
  long long end = begin;
  while (end - begin < 20000) end = nanoseconds();
  count[0] = clock64() - clocks;
  count[1] = end - begin;
}

}  // namespace

void clock_rate::record() {
  count_clocks<<<1, 1>>>(static_cast<long long*>(counts_.data()) + 2 * recorded_++);
  check(cudaGetLastError(), "counting clocks");
}

std::vector<double> clock_rate::megahertz() const {
  std::vector<count> counts(recorded_);
  check(cudaMemcpy(counts.data(), counts_.data(), recorded_ * sizeof(count), cudaMemcpyDeviceToHost), "reading clocks");
  std::vector<double> rates;
  for (const count& c : counts) rates.push_back(1e3 * double(c.clocks) / double(c.nanoseconds));
  return rates;
}

double clock_rate::highest_megahertz() {
  int kilohertz = 0;
  check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0), "asking for the GPU's clock");
  return kilohertz * 1e-3;
}

}  // namespace gpu_benchmark
