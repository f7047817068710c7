// SPDX-License-Identifier: MIT
// Facts about gfx950: AMD Instinct MI350 (CDNA4).
#pragma once

#include <tilewright/core/arch/gfx942.hpp>

namespace tilewright::arch {

namespace detail {

/// 64-bit and 128-bit reads see 64 banks, everything else 32.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> cdna4_lds() {
  constexpr index_t wave = 64;
  // Lanes 0-3, 12-15, 20-27 and lanes 4-11, 16-19, 28-31, and the same from lane 32 on.
  constexpr lds_phases b128_read_phases{wave, 16, {{1, 2, 12, 20, 4, 32}}};
  constexpr lds_service b32_read_whole{contiguous_phases(wave, 64), 64, grade::disputed,
                                       "latencies on an MI350X (amd-shark-ai #2919): all lanes at once on 64 banks", 4};
  constexpr lds_service b32_read_halves{contiguous_phases(wave, 32), 32, grade::disputed,
                                        "AMD's LDS rules for gfx950 (rocm-libraries #11097): two halves on 32 banks",
                                        4};
  constexpr const char* rules = "AMD's LDS rules for gfx950 (rocm-libraries #11097)";
  constexpr const char* rules_and_latencies =
      "AMD's LDS rules for gfx950 (rocm-libraries #11097); latencies on an MI350X (amd-shark-ai #2919)";
  constexpr lds_service b32_write{contiguous_phases(wave, 32), 32, grade::vendor, rules};
  constexpr lds_service b64_read{contiguous_phases(wave, 32), 64, grade::vendor, rules_and_latencies, 4};
  constexpr lds_service b64_transposing{contiguous_phases(wave, 32), 64, grade::inferred, "as ds_read_b64", 4};
  constexpr lds_service narrow_write{contiguous_phases(wave, 32), 32, grade::inferred, "as ds_write_b32"};
  return list_of<lds_instruction, num_lds_ops>(
      lds_row(lds_op::read_b8, b32_read_whole, b32_read_halves),
      lds_row(lds_op::read_b16, b32_read_whole, b32_read_halves),
      lds_row(lds_op::read_b32, b32_read_whole, b32_read_halves), lds_row(lds_op::read_b64, b64_read),
      lds_row(lds_op::read_b96, {quads_of_two_halves(wave), 32, grade::third_party,
                                 "measured by others; banks and rate: AMD's cycle model (rocm-libraries #2157)", 16}),
      lds_row(lds_op::read_b128, {b128_read_phases, 64, grade::vendor, rules_and_latencies, 8}),
      lds_row(lds_op::read_b64_tr_b16, b64_transposing), lds_row(lds_op::read_b64_tr_b8, b64_transposing),
      lds_row(lds_op::write_b8, narrow_write), lds_row(lds_op::write_b16, narrow_write),
      lds_row(lds_op::write_b32, b32_write),
      lds_row(lds_op::write_b64, {contiguous_phases(wave, 16), 32, grade::vendor, rules}),
      lds_row(lds_op::write_b96, {contiguous_phases(wave, 8), 32, grade::unknown, "assumed: as ds_write_b128"}),
      lds_row(lds_op::write_b128, {contiguous_phases(wave, 8), 32, grade::vendor, rules}));
}

}  // namespace detail

struct gfx950 {
  /// Facts of the GPU.
  static constexpr target value{
      .name = "gfx950",
      .isa = instruction_set::cdna,
      .wave_size = 64,
      .lds_bytes = 160 * 1024,
      .lds_granule = 1280,
      .lds_size_known_by = grade::vendor,
      .lds_size_source = "CDNA4 ISA manual; granule: LLVM, AMDGPU code objects",
      .num_dies = 8,
      .max_vgprs = 512,
      .buffer_instructions = true,
      .direct_to_lds_bytes = list_of<index_t, 5>(1, 2, 4, 12, 16),
      .matrix_ops = list_of<matrix_op, 16>(
          matrix_op::mfma_16x16x16, matrix_op::mfma_16x16x16_x2, matrix_op::mfma_32x32x8, matrix_op::mfma_32x32x8_x2,
          matrix_op::mfma_16x16x32, matrix_op::mfma_32x32x16, matrix_op::mfma_16x16x4_b32_x4,
          matrix_op::mfma_32x32x2_b32_x4, matrix_op::mfma_16x16x32_b8_x2, matrix_op::mfma_32x32x16_b8_x2,
          matrix_op::mfma_16x16x64_b8, matrix_op::mfma_32x32x32_b8, matrix_op::mfma_16x16x128_b8,
          matrix_op::mfma_32x32x64_b8),
      .least_clang = 20,
      .fp8 = fp8_kind::ocp,
      .lds = detail::cdna4_lds(),
  };
};

}  // namespace tilewright::arch
