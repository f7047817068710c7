// SPDX-License-Identifier: MIT
// Published figures of the GPUs whose kernels are predicted.
#pragma once

#include <tilewright/arch/matrix_instruction.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright {

/// Peak rates of matrix instructions without sparsity, in 10^12 operations per second, at the boost clock; 0: the GPU
/// has none. Sources: AMD data sheets of the Instinct MI210, MI300X and MI355X;
/// AMD product pages of the Radeon RX 7900 XTX and RX 9070 XT.
struct gpu_facts {
  const char* name;
  const char* target;
  index_t compute_units;
  double boost_ghz;
  double tera_16bit, tera_f32, tera_fp8, tera_i8;
  double memory_gigabytes_per_second;
  index_t lds_bytes_per_cu;
  index_t registers_per_simd, simds_per_cu;  // 32-bit registers of a lane, which the waves of a SIMD share

  TILEWRIGHT_HD constexpr double tera_operations(arch::matrix_element e) const {
    using enum arch::matrix_element;
    return e == f32 ? tera_f32 : e == i8 ? tera_i8 : arch::is_fp8(e) ? tera_fp8 : tera_16bit;
  }
  /// Of one compute unit.
  TILEWRIGHT_HD constexpr double operations_per_clock(arch::matrix_element e) const {
    return tera_operations(e) * 1e3 / (compute_units * boost_ghz);
  }
};

/// One GPU of each AMD target.
inline constexpr array<gpu_facts, 5> known_gpus{{
    {"MI210", "gfx90a", 104, 1.7, 181.0, 45.3, 0, 181.0, 1638, 64 * 1024, 512, 4},
    {"MI300X", "gfx942", 304, 2.1, 1307.4, 163.4, 2614.9, 2614.9, 5300, 64 * 1024, 512, 4},
    {"MI355X", "gfx950", 256, 2.4, 2516.6, 157.3, 5033.2, 5033.2, 8000, 160 * 1024, 512, 4},
    {"RX 7900 XTX", "gfx1100", 96, 2.5, 122.8, 0, 0, 122.8, 960, 64 * 1024, 1536, 2},
    {"RX 9070 XT", "gfx1201", 64, 2.97, 195.0, 0, 389.0, 389.0, 640, 64 * 1024, 1536, 2},
}};

}  // namespace tilewright
