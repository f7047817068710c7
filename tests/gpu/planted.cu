// SPDX-License-Identifier: MIT
// Mistakes of tests/planted on an NVIDIA GPU: planted <number> runs one of them, from 1 on, so that compute-sanitizer
// can look at it. 0 makes no mistake; without a number the last one is printed.
#include <tilewright/machine/exec/nvptx/make_tensor_map.hpp>

#include "../planted/shared.hpp"

#include <cstdio>
#include <cstdlib>

namespace tw = tilewright;
namespace exec = tw::exec;
using tw::planted::world;

namespace {

#if TILEWRIGHT_NVPTX_PASS
using namespace tw::planted;

/// f(kernel's type) for number `number`; returns how many there are.
template <class F, class... Shared>
__device__ int call(kernels<Shared...>, int number, F f) {
  int i = 0;
  ((++i == number ? f(Shared{}) : void()), ...);
  return i;
}
#endif

__global__ void print_name(int number) {
#if TILEWRIGHT_NVPTX_PASS
  const int count = call(shared_kernels{}, number, []<class K>(K) { printf("%s", K::name); });
  if (number == 0) printf("no mistake");
  if (number < 0) printf("%d\n", count);
#endif
}

__global__ void run(const __grid_constant__ world w, int* results, int number) {
#if TILEWRIGHT_NVPTX_PASS
  int seen = 0;
  if (number == 0) {
    lds();
    store(thread() * 4);
    exec::block_sync();
    seen = load((thread() ^ 64) * 4);
  }
  call(shared_kernels{}, number, [&]<class K>(K) { seen = K::run(w); });
  results[blockIdx.x * blockDim.x + threadIdx.x] = seen;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const int number = argc == 2 ? std::atoi(argv[1]) : -1;
  constexpr int bytes = tw::planted::memory_bytes, threads = tw::planted::block_threads;
  world w{};
  int* results;
  cudaMalloc(&w.numbers, bytes);
  cudaMemset(w.numbers, 0, bytes);
  cudaMalloc(&results, 2 * threads * 4);
  const cudaError_t map =
      exec::make_tensor_map(w.map, {w.numbers, tw::arch::matrix_element::f16, {64, 64, 1}, {128, 8192}, {64, 16}});
  if (map != cudaSuccess) return std::printf("no tensor map: %s\n", cudaGetErrorString(map)), 2;
  print_name<<<1, 1>>>(number);
  cudaDeviceSynchronize();
  if (number < 0) return 0;
  run<<<2, threads, tw::planted::lds_bytes>>>(w, results, number);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf(": %s\n", error == cudaSuccess ? "ended" : cudaGetErrorString(error));
  return 0;
}
