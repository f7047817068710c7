// SPDX-License-Identifier: MIT
// Facts about sm_90: NVIDIA Hopper (H100).
#pragma once

#include <tilewright/core/arch/target.hpp>

namespace tilewright::arch {

namespace detail {

/// Shared memory of NVIDIA GPUs. On an H100 the hardware's counter of wavefronts equals this table's cost for all
/// accesses of tests/gpu/check_lds.py, at least 40 for each instruction,
/// and tools/lds_probe finds the same rows by their times.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> hopper_shared_memory() {
  constexpr index_t wave = 32, banks = 32;
  constexpr const char* counter = "wavefront counter and times of an H100";
  constexpr lds_service b32{contiguous_phases(wave, 32), banks, grade::measured_here, counter, 1};
  constexpr lds_service b64{contiguous_phases(wave, 16), banks, grade::measured_here, counter, 2};
  constexpr lds_service read_b64{contiguous_phases(wave, 16), banks, grade::measured_here, counter, 2, true};
  constexpr lds_service b128{contiguous_phases(wave, 8), banks, grade::measured_here, counter, 4};
  constexpr lds_service read_b128{contiguous_phases(wave, 8), banks, grade::measured_here, counter, 4, true};
  return list_of<lds_instruction, num_lds_ops>(
      lds_row(lds_op::read_b8, b32), lds_row(lds_op::read_b16, b32), lds_row(lds_op::read_b32, b32),
      lds_row(lds_op::read_b64, read_b64), lds_row(lds_op::read_b128, read_b128), lds_row(lds_op::write_b8, b32),
      lds_row(lds_op::write_b16, b32), lds_row(lds_op::write_b32, b32), lds_row(lds_op::write_b64, b64),
      lds_row(lds_op::write_b128, b128), lds_row(lds_op::ldmatrix, b128), lds_row(lds_op::stmatrix, b128));
}

}  // namespace detail

struct sm90 {
  /// Facts of the GPU.
  static constexpr target value{
      .name = "sm_90",
      .isa = instruction_set::ptx,
      .wave_size = 32,
      .lds_bytes = 227 * 1024,
      .lds_granule = 128,
      .lds_pool_bytes = 228 * 1024,
      .lds_reserved_bytes = 1024,
      .max_lds_offset = 0x7fffff,
      .lds_size_known_by = grade::vendor,
      .lds_size_source = "CUDA C++ programming guide, compute capability 9.0",
      .max_vgprs = 255,
      .direct_to_lds_bytes = list_of<index_t, 5>(4, 8, 16),
      .matrix_ops = list_of<matrix_op, 16>(matrix_op::mma_m16n8k16_x2),
      .has_wgmma = true,
      .max_cluster = 8,
      .lds = detail::hopper_shared_memory(),
  };
};

}  // namespace tilewright::arch
