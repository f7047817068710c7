// SPDX-License-Identifier: MIT
// Facts about gfx90a: AMD Instinct MI200 (CDNA2).
#pragma once

#include <tilewright/core/arch/gfx942.hpp>

namespace tilewright::arch {

namespace detail {

/// gfx942's table. AMD's rules for gfx90a state the reads and writes of 4, 8 and 16 bytes alike.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> cdna2_lds() {
  inplace_vector<lds_instruction, num_lds_ops> rows = cdna3_lds();
  for (lds_instruction& row : rows) {
    for (lds_service& reading : row.readings) {
      if (reading.known_by == grade::unknown) continue;
      const bool is_published = row.op == lds_op::read_b32 || row.op == lds_op::read_b64 ||
                                row.op == lds_op::read_b128 || row.op == lds_op::write_b32 ||
                                row.op == lds_op::write_b64 || row.op == lds_op::write_b128;
      reading.known_by = is_published ? grade::vendor : grade::inferred;
      reading.source = is_published ? "AMD's LDS rules for gfx90a (rocm-libraries #11094)" : "as gfx942";
    }
  }
  return rows;
}

}  // namespace detail

/// As gfx942, except for dies, matrix instructions and fp8.
struct gfx90a {
  /// Facts of the GPU.
  static constexpr target value = [] {
    target t = gfx942::value;
    t.name = "gfx90a";
    t.lds_size_source = "CDNA2 ISA manual; granule: LLVM, AMDGPU code objects";
    t.num_dies = 1;
    t.matrix_ops = list_of<matrix_op, 16>(matrix_op::mfma_16x16x16, matrix_op::mfma_16x16x16_x2,
                                          matrix_op::mfma_32x32x8, matrix_op::mfma_32x32x8_x2,
                                          matrix_op::mfma_16x16x4_b32_x4, matrix_op::mfma_32x32x2_b32_x4,
                                          matrix_op::mfma_16x16x16_b8_x4, matrix_op::mfma_32x32x8_b8_x4);
    t.fp8 = fp8_kind::none;
    t.lds = detail::cdna2_lds();
    return t;
  }();
};

}  // namespace tilewright::arch
