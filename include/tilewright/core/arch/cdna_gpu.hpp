// SPDX-License-Identifier: MIT
// AMD Instinct GPUs: compute units, dies, caches and memory, for performance models.
#pragma once

#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/core/arch/gfx950.hpp>
#include <tilewright/core/base/array.hpp>

namespace tilewright::arch {

/// Facts of an AMD Instinct GPU of CDNA 3 or later. Rates are peaks, in 10^12 operations or 10^9 bytes per second.
struct cdna_gpu {
  const char* name;                         ///< As it is sold.
  const target* isa;                        ///< Whose code it runs.
  index_t compute_units;                    ///< Of all dies.
  index_t dies;                             ///< With an L2 each; consecutive blocks go to consecutive dies.
  double clock_ghz;                         ///< Boost clock, at which the peaks hold.
  double loaded_clock_ghz;                  ///< While GEMMs use all compute units. Fitted: docs/amd_predictions.md.
  double tera_16bit, tera_8bit, tera_4bit;  ///< Dense matrix instructions; 0: there are none.
  double memory_gb_s, mall_gb_s;            ///< Of HBM, and of the Infinity Cache (MALL) to all dies.
  double mall_bytes;                        ///< Capacity of the Infinity Cache.
  double load_bytes_per_clock;              ///< From L2 to one compute unit.
  grade known_by;                           ///< Of the weakest of these facts, loaded_clock_ghz apart.
  const char* source;                       ///< Documents of the facts.

  /// Peak of matrix instructions on elements of 4, 8 or 16 bits.
  TILEWRIGHT_HD constexpr double tera_operations(index_t element_bits) const {
    return element_bits == 4 ? tera_4bit : element_bits == 8 ? tera_8bit : tera_16bit;
  }
  /// Matrix operations per clock of one compute unit.
  TILEWRIGHT_HD constexpr double operations_per_clock(index_t element_bits) const {
    return tera_operations(element_bits) * 1e3 / (compute_units * clock_ghz);
  }
  /// Bytes per clock that the LDS of a compute unit delivers to reads of 16 bytes by each lane.
  TILEWRIGHT_HD constexpr double lds_read_bytes_per_clock() const {
    return double(isa->wave_size) * 16 / isa->find(lds_op::read_b128)->readings[0].clocks;
  }
  /// Bytes per clock that it takes from writes of 16 bytes by each lane: a phase is a clock.
  TILEWRIGHT_HD constexpr double lds_write_bytes_per_clock() const {
    return double(isa->find(lds_op::write_b128)->readings[0].phases.lanes_per_phase) * 16;
  }
};

/// The GPUs. MI308X has the dies of MI300X with fewer compute units.
inline constexpr array<cdna_gpu, 3> cdna_gpus{{
    {"MI300X", &gfx942::value, 304, 8, 2.1, 1.66, 1307.4, 2614.9, 0, 5300, 17200, 268435456, 64, grade::vendor,
     "AMD data sheet of the MI300X; AMD CDNA 3 white paper (Infinity Cache, 64 bytes per clock from L2)"},
    {"MI308X", &gfx942::value, 80, 4, 2.1, 2.02, 344.1, 688.1, 0, 5300, 17200, 268435456, 64, grade::inferred,
     "80 compute units: aiter's tuning tables; rates: as MI300X; 4 dies: assumed"},
    {"MI355X", &gfx950::value, 256, 8, 2.4, 2.4, 2516.6, 5033.2, 10066.3, 8000, 17200, 268435456, 64, grade::inferred,
     "AMD data sheet of the MI355X; caches: as MI300X"},
}};

}  // namespace tilewright::arch
