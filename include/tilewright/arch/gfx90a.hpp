// SPDX-License-Identifier: MIT
// AMD Instinct MI200 (CDNA2).
#pragma once

#include <tilewright/arch/gfx942.hpp>

namespace tilewright::arch {

namespace detail {

/// Nobody has published which lanes gfx90a serves together; the 32 banks are documented.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> cdna2_lds() {
  inplace_vector<lds_instruction, num_lds_ops> rows = cdna3_lds();
  for (lds_instruction& row : rows) {
    for (lds_service& reading : row.readings) {
      if (reading.known_by == grade::unknown) continue;
      reading.known_by = grade::inferred;
      reading.source = "as gfx942";
    }
  }
  return rows;
}

}  // namespace detail

/// As gfx942, except for dies, matrix instructions and fp8.
struct gfx90a {
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
