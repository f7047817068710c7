// SPDX-License-Identifier: MIT
// Each thread evaluates one position of each walk.
#include <tilewright/machine/exec/exec.hpp>

#include "walks.hpp"

namespace exec = tilewright::exec;

extern "C" TILEWRIGHT_GLOBAL void evaluate_walks(int* out, int rows, int cols) {
#if TILEWRIGHT_DEVICE_PASS
  const int i = exec::block_id().x * 256 + exec::thread_id();
  if (i >= walks::size) return;
  for (int walk = 0; walk < walks::num_walks; ++walk) {
    const auto index = walks::position(walk, i, rows, cols);
    out[(walk * walks::size + i) * 2] = index[0];
    out[(walk * walks::size + i) * 2 + 1] = index[1];
  }
#endif
}
