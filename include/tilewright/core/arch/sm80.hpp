// SPDX-License-Identifier: MIT
// Facts about sm_80: NVIDIA Ampere (A100).
#pragma once

#include <tilewright/core/arch/sm90.hpp>

namespace tilewright::arch {

namespace detail {

/// As Hopper, where it was measured; stmatrix came with Hopper.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> ampere_shared_memory() {
  inplace_vector<lds_instruction, num_lds_ops> rows;
  for (lds_instruction row : hopper_shared_memory()) {
    if (row.op == lds_op::stmatrix) continue;
    for (lds_service& reading : row.readings) {
      reading.known_by = grade::inferred;
      reading.source = "as sm_90";
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace detail

/// As sm_90, except for the size of shared memory, clusters and wgmma.
struct sm80 {
  /// Facts of the GPU.
  static constexpr target value = [] {
    target t = sm90::value;
    t.name = "sm_80";
    t.lds_bytes = 163 * 1024;
    t.lds_pool_bytes = 164 * 1024;
    t.lds_size_source = "CUDA C++ programming guide, compute capability 8.0";
    t.has_wgmma = false;
    t.max_cluster = 1;
    t.lds = detail::ampere_shared_memory();
    return t;
  }();
};

}  // namespace tilewright::arch
