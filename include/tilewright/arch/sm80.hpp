// SPDX-License-Identifier: MIT
// NVIDIA Ampere (A100).
#pragma once

#include <tilewright/arch/sm90.hpp>

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

struct sm80 {
  static constexpr target value{
      .name = "sm_80",
      .isa = instruction_set::ptx,
      .wave_size = 32,
      .lds_bytes = 163 * 1024,
      .lds_granule = 128,
      .lds_pool_bytes = 164 * 1024,
      .lds_reserved_bytes = 1024,
      .max_lds_offset = 0x7fffff,
      .lds_size_known_by = grade::vendor,
      .lds_size_source = "CUDA C++ programming guide, compute capability 8.0",
      .max_vgprs = 255,
      .direct_to_lds_bytes = list_of<index_t, 5>(4, 8, 16),
      .matrix_ops = list_of<matrix_op, 16>(matrix_op::mma_m16n8k16_x2),
      .lds = detail::ampere_shared_memory(),
  };
};

}  // namespace tilewright::arch
