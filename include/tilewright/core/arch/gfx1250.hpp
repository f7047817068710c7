// SPDX-License-Identifier: MIT
// Facts about gfx1250: AMD Instinct MI450 (CDNA5 by generation; its instruction set is that of GFX12), waves of 32
// lanes.
#pragma once

#include <tilewright/core/arch/gfx12.hpp>

namespace tilewright::arch {

namespace detail {

/// Nothing official is published about its LDS: gfx1201's phases, and both numbers of banks.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> gfx1250_lds() {
  inplace_vector<lds_instruction, num_lds_ops> rows = gfx1201::value.lds;
  for (lds_instruction& row : rows) {
    for (lds_service& reading : row.readings) {
      reading.known_by = grade::unknown;
      reading.source = reading.banks == 64 ? "assumed by kernels of others: 64 banks" : "assumed: as gfx1201";
    }
  }
  return rows;
}

}  // namespace detail

/// Not used: clusters, loads that workgroups of a cluster share, registers beyond the first 256 (s_set_vgpr_msb), LDS
/// copies of a lane that bypass registers.
struct gfx1250 {
  /// Facts of the GPU.
  static constexpr target value = [] {
    target t = gfx1201::value;
    t.name = "gfx1250";
    t.lds_bytes = 320 * 1024;
    t.lds_granule = 2048;
    t.lds_pool_bytes = 0;
    t.lds_size_source = "LLVM: FeatureAddressableLocalMemorySize327680; granule: what LLVM 22 allocates";
    t.registers_per_simd = 1024;
    t.simds_per_cu = 4;
    t.cus_per_pool = 1;
    t.matrix_ops = list_of<matrix_op, 16>(matrix_op::wmma_16x16x16_gfx12, matrix_op::wmma_16x16x32_gfx1250,
                                          matrix_op::wmma_16x16x64_b8_gfx1250, matrix_op::wmma_16x16x128_b8_gfx1250);
    t.has_tensor_mover = true;
    t.least_clang = 22;
    t.lds = detail::gfx1250_lds();
    return t;
  }();
};

}  // namespace tilewright::arch
