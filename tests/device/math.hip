// SPDX-License-Identifier: MIT
// exec's functions of floats, as compiled for each GPU.
#include <tilewright/machine/exec/exec.hpp>

#include "math_problem.hpp"

extern "C" TILEWRIGHT_GLOBAL void functions([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                                            [[maybe_unused]] float* out) {
#if TILEWRIGHT_DEVICE_PASS
  math_problem::run(x, y, out, tilewright::exec::block_id().x * 256 + tilewright::exec::thread_id());
#endif
}
