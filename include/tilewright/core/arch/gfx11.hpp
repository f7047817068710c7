// SPDX-License-Identifier: MIT
// Facts about gfx1100 (AMD Radeon RX 7900, RDNA3) and gfx1150 and gfx1151 (Radeon 890M and 8060S, RDNA3.5), waves of 32
// lanes.
#pragma once

#include <tilewright/core/arch/gfx942.hpp>

namespace tilewright::arch {

namespace detail {

/// An RDNA row: as one wave sees it there are 32 banks (measured). HIP's documentation says 64, which may count a whole
/// workgroup processor; 64 banks never cost more.
TILEWRIGHT_HD constexpr lds_instruction rdna_row(lds_op op, const lds_phases& phases, grade known_by,
                                                 const char* source) {
  return lds_row(op, {phases, 32, known_by, source},
                 {phases, 64, grade::disputed, "HIP documentation (rocm-systems #3114): 64 banks"});
}

TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> rdna3_lds() {
  constexpr index_t wave = 32;
  constexpr lds_phases whole = contiguous_phases(wave, 32), halves = contiguous_phases(wave, 16);
  constexpr lds_phases quarters = contiguous_phases(wave, 8);
  constexpr const char* latencies = "latencies on a W7900 (amd-shark-ai #2919)";
  return list_of<lds_instruction, num_lds_ops>(
      rdna_row(lds_op::read_b8, whole, grade::inferred, "as ds_read_b32"),
      rdna_row(lds_op::read_b16, whole, grade::inferred, "as ds_read_b32"),
      rdna_row(lds_op::read_b32, whole, grade::third_party, latencies),
      rdna_row(lds_op::read_b64, halves, grade::third_party, latencies),
      rdna_row(lds_op::read_b96, quads_of_two_halves(wave), grade::inferred,
               "as ds_read_b128: an AMD document says that GFX12 changed both (triton #11365)"),
      rdna_row(lds_op::read_b128, quads_of_two_halves(wave), grade::third_party, latencies),
      rdna_row(lds_op::write_b8, whole, grade::inferred, "as ds_write_b32"),
      rdna_row(lds_op::write_b16, whole, grade::inferred, "as ds_write_b32"),
      rdna_row(lds_op::write_b32, whole, grade::inferred, "as gfx942"),
      rdna_row(lds_op::write_b64, halves, grade::inferred, "as gfx942"),
      rdna_row(lds_op::write_b96, quarters, grade::unknown, "assumed: as ds_write_b128"),
      rdna_row(lds_op::write_b128, quarters, grade::inferred, "as gfx942"));
}

}  // namespace detail

struct gfx1100 {
  /// Facts of the GPU.
  static constexpr target value{
      .name = "gfx1100",
      .isa = instruction_set::rdna,
      .wave_size = 32,
      .lds_bytes = 64 * 1024,
      .lds_granule = 512,
      .lds_pool_bytes = 128 * 1024,
      .lds_size_known_by = grade::vendor,
      .lds_size_source = "RDNA3 ISA manual: 128 KiB per workgroup processor, 64 KiB per workgroup; granule: LLVM",
      .max_vgprs = 256,
      .registers_per_simd = 1536,
      .simds_per_cu = 2,
      .cus_per_pool = 2,
      .buffer_instructions = true,
      .matrix_ops = list_of<matrix_op, 16>(matrix_op::wmma_16x16x16_gfx11, matrix_op::wmma_16x16x16_b8_gfx11),
      .lds = detail::rdna3_lds(),
  };
};

/// As gfx1100. AMD calls it Strix Halo.
struct gfx1151 {
  /// Facts of the GPU.
  static constexpr target value = [] {
    target t = gfx1100::value;
    t.name = "gfx1151";
    t.lds_size_source = "RDNA3.5 ISA manual: 128 KiB per workgroup processor, 64 KiB per workgroup; granule: LLVM";
    t.lds = inferred_rows(gfx1100::value, "as gfx1100");
    return t;
  }();
};

/// As gfx1151 with two thirds of the registers. AMD calls it Strix Point.
struct gfx1150 {
  /// Facts of the GPU. Registers: LLVM, FeatureISAVersion11_5_0, which lacks Feature1_5xVGPRs.
  static constexpr target value = [] {
    target t = gfx1151::value;
    t.name = "gfx1150";
    t.registers_per_simd = 1024;
    return t;
  }();
};

}  // namespace tilewright::arch
