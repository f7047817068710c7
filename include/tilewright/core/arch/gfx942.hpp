// SPDX-License-Identifier: MIT
// Facts about gfx942: AMD Instinct MI300 (CDNA3).
#pragma once

#include <tilewright/core/arch/target.hpp>

namespace tilewright::arch {

namespace detail {

/// Lanes 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27, and the same from lane 32 on: the span of
/// lane bits 0, 1 and of 4 together with 16. Eight rows of a column are served by
/// lanes of both halves of a 32-row tile.
TILEWRIGHT_HD constexpr lds_phases quads_of_two_halves(index_t wave_size) {
  return {wave_size, 8, {{1, 2, 20, 4, 8, 32}}};
}

/// LDS table of the CDNA generations with 32 banks.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> cdna3_lds() {
  constexpr index_t wave = 64, banks = 32;
  constexpr const char* rules = "AMD's LDS rules for gfx942 (rocm-libraries #11096)";
  constexpr const char* rules_and_latencies =
      "AMD's LDS rules for gfx942 (rocm-libraries #11096); latencies on an MI300X (amd-shark-ai #2919)";
  constexpr lds_service b32_read{contiguous_phases(wave, 32), banks, grade::vendor, rules_and_latencies, 4};
  constexpr lds_service b32_write{contiguous_phases(wave, 32), banks, grade::vendor, rules};
  constexpr lds_service narrow_read{contiguous_phases(wave, 32), banks, grade::inferred, "as ds_read_b32"};
  constexpr lds_service narrow_write{contiguous_phases(wave, 32), banks, grade::inferred, "as ds_write_b32"};
  return list_of<lds_instruction, num_lds_ops>(
      lds_row(lds_op::read_b8, narrow_read), lds_row(lds_op::read_b16, narrow_read),
      lds_row(lds_op::read_b32, b32_read),
      lds_row(lds_op::read_b64, {contiguous_phases(wave, 16), banks, grade::vendor, rules_and_latencies, 8}),
      lds_row(lds_op::read_b96, {quads_of_two_halves(wave), banks, grade::inferred, "as gfx950"}),
      lds_row(
          lds_op::read_b128,
          {quads_of_two_halves(wave), banks, grade::vendor,
           "Composable Kernel documentation, LDS bank conflicts; AMD's LDS rules for gfx942 (rocm-libraries #11096); "
           "latencies on an MI300X (amd-shark-ai #2919)",
           16}),
      lds_row(lds_op::write_b8, narrow_write), lds_row(lds_op::write_b16, narrow_write),
      lds_row(lds_op::write_b32, b32_write),
      lds_row(lds_op::write_b64, {contiguous_phases(wave, 16), banks, grade::vendor, rules}),
      lds_row(lds_op::write_b96, {contiguous_phases(wave, 8), banks, grade::unknown, "assumed: as ds_write_b128"}),
      lds_row(lds_op::write_b128, {contiguous_phases(wave, 8), banks, grade::vendor,
                                   "Composable Kernel documentation, LDS bank conflicts; AMD's LDS rules for gfx942 "
                                   "(rocm-libraries #11096)"}));
}

}  // namespace detail

struct gfx942 {
  /// Facts of the GPU.
  static constexpr target value{
      .name = "gfx942",
      .isa = instruction_set::cdna,
      .wave_size = 64,
      .lds_bytes = 64 * 1024,
      .lds_granule = 512,
      .lds_size_known_by = grade::vendor,
      .lds_size_source = "CDNA3 ISA manual; granule: LLVM, AMDGPU code objects",
      .num_dies = 8,
      .max_vgprs = 512,
      .buffer_instructions = true,
      .direct_to_lds_bytes = list_of<index_t, 5>(1, 2, 4),
      .matrix_ops = list_of<matrix_op, 16>(matrix_op::mfma_16x16x16, matrix_op::mfma_16x16x16_x2,
                                           matrix_op::mfma_32x32x8, matrix_op::mfma_32x32x8_x2,
                                           matrix_op::mfma_16x16x4_b32_x4, matrix_op::mfma_32x32x2_b32_x4,
                                           matrix_op::mfma_16x16x32_b8_x2, matrix_op::mfma_32x32x16_b8_x2),
      .fp8 = fp8_kind::fnuz,
      .lds = detail::cdna3_lds(),
  };
};

}  // namespace tilewright::arch
