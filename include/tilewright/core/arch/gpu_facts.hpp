// SPDX-License-Identifier: MIT
// Published and measured rates of GPUs, for performance models.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/base/array.hpp>

namespace tilewright::arch {

/// Rates of matrix instructions without sparsity, in 10^12 operations per second, at the given clock; 0: the GPU has
/// none. Sources: AMD data sheets of the Instinct MI100, MI210, MI300X and MI355X; AMD product pages of the Radeon
/// RX 7900 XTX, RX 9060 XT and RX 9070 XT, 890M and 8060S (matrix rates of the last two: 512 operations per clock of a
/// compute unit, as gfx1100); AMD's announcement of the MI455X (8-bit rate and memory; compute units: aiter's tables;
/// clock and 16-bit rate are assumed); NVIDIA data sheet of the A100. H100: data sheet, and docs/lab/performance.md:
/// mma.sync does an m16n8k16 in 6 clocks, and the clock falls to 1.5 GHz where kernels of it draw 700 W.
struct gpu_facts {
  const char* name;       ///< as it is sold
  const char* target;     ///< target::name
  index_t compute_units;  ///< NVIDIA: SMs
  double clock_ghz;       ///< boost clock, unless the source says otherwise
  /// Dense, of matrix instructions: 10^12 multiplications and additions per second; 0: it has none.
  double tera_16bit, tera_f32, tera_fp8, tera_i8;
  double memory_gigabytes_per_second;  ///< of the data sheet, 10^9 bytes per second
  /// Clocks that matrix instructions lose for each clock of concurrent LDS accesses; 0: none, or unknown.
  double lds_interference = 0;
  /// Bytes per clock from L2 to one compute unit when all units load; 0: unknown, not modelled.
  double l2_bytes_per_clock = 0;

  /// The peak rate for elements of this type, in 10^12 operations per second.
  TILEWRIGHT_HD constexpr double tera_operations(matrix_element e) const {
    using enum matrix_element;
    return e == f32 ? tera_f32 : e == i8 ? tera_i8 : is_fp8(e) ? tera_fp8 : tera_16bit;
  }
  /// Operations per clock of one compute unit.
  TILEWRIGHT_HD constexpr double operations_per_clock(matrix_element e) const {
    return tera_operations(e) * 1e3 / (compute_units * clock_ghz);
  }
};

/// One GPU of each target.
inline constexpr array<gpu_facts, 12> known_gpus{{
    {"MI210", "gfx90a", 104, 1.7, 181.0, 45.3, 0, 181.0, 1638},
    {"MI300X", "gfx942", 304, 2.1, 1307.4, 163.4, 2614.9, 2614.9, 5300},
    {"MI355X", "gfx950", 256, 2.4, 2516.6, 157.3, 5033.2, 5033.2, 8000},
    {"RX 7900 XTX", "gfx1100", 96, 2.5, 122.8, 0, 0, 122.8, 960},
    {"RX 9070 XT", "gfx1201", 64, 2.97, 195.0, 0, 389.0, 389.0, 640},
    {"A100 SXM 80 GB", "sm_80", 108, 1.41, 312.0, 0, 0, 0, 2039},
    {"H100 SXM", "sm_90", 132, 1.5, 540.7, 0, 0, 0, 3350, 0.2, 34},
    {"MI100", "gfx908", 120, 1.502, 184.6, 46.1, 0, 184.6, 1229},
    {"Radeon 890M", "gfx1150", 16, 2.9, 23.8, 0, 0, 23.8, 120},
    {"Radeon 8060S", "gfx1151", 40, 2.9, 59.4, 0, 0, 59.4, 256},
    {"RX 9060 XT", "gfx1200", 32, 3.13, 102.7, 0, 205.4, 205.4, 320},
    {"MI455X", "gfx1250", 256, 2.4, 10000, 0, 20000, 20000, 19600},
}};

}  // namespace tilewright::arch
