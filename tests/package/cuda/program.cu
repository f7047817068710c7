// SPDX-License-Identifier: MIT
// A kernel of tilewright headers, launched as CUDA programs do.
#include <tilewright/machine/exec/exec.hpp>

__global__ void thread_ids(int* out) {
#if TILEWRIGHT_DEVICE_PASS
  out[tilewright::exec::thread_id()] = int(tilewright::exec::thread_id());
#endif
}

void launch(int* out) { thread_ids<<<1, 32>>>(out); }
