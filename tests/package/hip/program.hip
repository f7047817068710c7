// SPDX-License-Identifier: MIT
// Launches a kernel of tilewright headers as HIP programs do.
#include <hip/hip_runtime.h>

#include <tilewright/machine/exec/exec.hpp>

#include <cstdio>

__global__ void thread_ids(int* out) {
#if TILEWRIGHT_DEVICE_PASS
  out[tilewright::exec::thread_id()] = int(tilewright::exec::thread_id());
#endif
}

int main() {
  constexpr int threads = 64;
  int* on_gpu = nullptr;
  int ids[threads] = {};
  if (hipMalloc(reinterpret_cast<void**>(&on_gpu), sizeof ids) != hipSuccess) {
    std::printf("there is no GPU\n");
    return 77;
  }
  thread_ids<<<1, threads>>>(on_gpu);
  if (hipMemcpy(ids, on_gpu, sizeof ids, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  for (int i = 0; i < threads; ++i)
    if (ids[i] != i) return 1;
  return hipFree(on_gpu) == hipSuccess ? 0 : 1;
}
