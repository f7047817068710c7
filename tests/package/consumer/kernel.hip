// SPDX-License-Identifier: MIT
// A kernel of another project.
#include <tilewright/machine/exec/exec.hpp>

extern "C" TILEWRIGHT_GLOBAL void thread_ids(int* out) {
#if TILEWRIGHT_DEVICE_PASS
  out[tilewright::exec::thread_id()] = tilewright::exec::thread_id();
#endif
}
