// SPDX-License-Identifier: MIT
// AMD Radeon RX 9070 (RDNA4), waves of 32 lanes.
#pragma once

#include <tilewright/arch/gfx11.hpp>

namespace tilewright::arch {

namespace detail {

/// As RDNA3, but wide reads are served in the order of the lanes.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> rdna4_lds() {
  inplace_vector<lds_instruction, num_lds_ops> rows = rdna3_lds();
  const lds_phases quarters = contiguous_phases(32, 8);
  for (lds_instruction& row : rows) {
    if (row.op == lds_op::read_b96) row = rdna_row(row.op, quarters, grade::vendor, "vendor: sequential");
    if (row.op == lds_op::read_b128) row = rdna_row(row.op, quarters, grade::vendor, "vendor; measured by others");
  }
  return rows;
}

}  // namespace detail

struct gfx1201 {
  static constexpr target value{
      .name = "gfx1201",
      .isa = instruction_set::rdna,
      .wave_size = 32,
      .lds_bytes = 64 * 1024,
      .lds_granule = 512,
      .lds_pool_bytes = 128 * 1024,
      .lds_size_known_by = grade::vendor,
      .lds_size_source = "RDNA4 ISA manual: 128 KiB per workgroup processor, 64 KiB per workgroup; granule: LLVM",
      .max_vgprs = 256,
      .registers_per_simd = 1536,
      .simds_per_cu = 2,
      .cus_per_pool = 2,
      .buffer_instructions = true,
      .matrix_ops = list_of<matrix_op, 16>(matrix_op::wmma_16x16x16_gfx12, matrix_op::wmma_16x16x16_b8_x2_gfx12),
      .fp8 = fp8_kind::ocp,
      .lds = detail::rdna4_lds(),
  };
};

}  // namespace tilewright::arch
