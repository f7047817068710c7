// SPDX-License-Identifier: MIT
// What a Hopper GEMM kernel gets: tensors as bulk copies see them, and the work to share.
#pragma once

#include <tilewright/arch/tensor_map.hpp>
#include <tilewright/gemm/gemm_args.hpp>
#include <tilewright/gemm/hopper/work_schedule.hpp>

namespace tilewright {

/// One launch of a Hopper kernel; hopper_gemm_kernel::prepare fills it.
struct hopper_args {
  exec::tensor_map a, b, c;  // boxes of a stage and of C
  gemm_args gemm;
  work_schedule schedule;  // of clusters
  /// Where parts of tiles meet: for each sharer, block of a cluster and consumer 64 x n floats, and a counter,
  /// 0 before and after.
  float* parts;
  unsigned* counters;
};

}  // namespace tilewright
