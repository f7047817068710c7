// SPDX-License-Identifier: MIT
// The machine's functions on NVIDIA GPUs.
#pragma once

#include <tilewright/exec/no_schedule.hpp>
#include <tilewright/exec/nvptx/async_copy.hpp>
#include <tilewright/exec/nvptx/atomic.hpp>
#include <tilewright/exec/nvptx/cross_lane.hpp>
#include <tilewright/exec/nvptx/matrix.hpp>
#include <tilewright/exec/nvptx/memory.hpp>

namespace tilewright::exec::inline nvptx {

template <arch::matrix_op Op, index_t Nth, class T>
TILEWRIGHT_HD void mma_part(float* c, const T* a, const T* b) {
  mma<Op>(c, a, b);
}

}  // namespace tilewright::exec::inline nvptx
