// SPDX-License-Identifier: MIT
// Facts about gfx1201 (AMD Radeon RX 9070, RDNA4) and gfx1200 (RX 9060), waves of 32 lanes.
#pragma once

#include <tilewright/core/arch/gfx11.hpp>

namespace tilewright::arch {

namespace detail {

/// As RDNA3, but wide reads are served in the order of the lanes.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> rdna4_lds() {
  inplace_vector<lds_instruction, num_lds_ops> rows = rdna3_lds();
  const lds_phases quarters = contiguous_phases(32, 8);
  constexpr const char* latencies = "latencies on an RX 9070 XT (amd-shark-ai #2919)";
  constexpr const char* sequential = "an AMD document (triton #11365)";
  constexpr const char* both = "an AMD document (triton #11365); latencies on an RX 9070 XT (amd-shark-ai #2919)";
  for (lds_instruction& row : rows) {
    if (row.readings[0].known_by == grade::third_party) row.readings[0].source = latencies;
    if (row.op == lds_op::read_b96) row = rdna_row(row.op, quarters, grade::vendor, sequential);
    if (row.op == lds_op::read_b128) row = rdna_row(row.op, quarters, grade::vendor, both);
  }
  return rows;
}

}  // namespace detail

/// As gfx1100, except for matrix instructions, fp8 and wide reads.
struct gfx1201 {
  /// Facts of the GPU.
  static constexpr target value = [] {
    target t = gfx1100::value;
    t.name = "gfx1201";
    t.lds_size_source = "RDNA4 ISA manual: 128 KiB per workgroup processor, 64 KiB per workgroup; granule: LLVM";
    t.matrix_ops = list_of<matrix_op, 16>(matrix_op::wmma_16x16x16_gfx12, matrix_op::wmma_16x16x16_b8_x2_gfx12);
    t.fp8 = fp8_kind::ocp;
    t.lds = detail::rdna4_lds();
    return t;
  }();
};

/// As gfx1201, with fewer compute units.
struct gfx1200 {
  /// Facts of the GPU.
  static constexpr target value = [] {
    target t = gfx1201::value;
    t.name = "gfx1200";
    t.lds = inferred_rows(gfx1201::value, "as gfx1201");
    return t;
  }();
};

}  // namespace tilewright::arch
