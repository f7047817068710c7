// SPDX-License-Identifier: MIT
// Occupancy: how many blocks share an LDS.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/base/math.hpp>

namespace tilewright::arch {

/// Blocks that a compute unit (RDNA: a workgroup processor, NVIDIA: an SM) holds at once: limited by its LDS and, where
/// block_size (threads) and registers (32-bit, of one thread) are given, by its registers. 0: one block has more than
/// the target allows.
TILEWRIGHT_HD constexpr index_t resident_blocks(const target& t, index_t lds_bytes, index_t block_size = 0,
                                                index_t registers = 0) {
  const index_t allocated = tilewright::detail::round_up(lds_bytes, t.lds_granule);
  if (allocated > t.lds_bytes) return 0;
  const index_t pool = max(t.lds_pool_bytes, t.lds_bytes), granule = 8;  // registers are allocated by eights
  const index_t by_lds = pool / max(allocated + t.lds_reserved_bytes, t.lds_granule);
  if (block_size == 0 || registers == 0) return by_lds;
  const index_t waves =
      t.cus_per_pool * t.simds_per_cu * (t.registers_per_simd / tilewright::detail::round_up(registers, granule));
  return min(by_lds, waves / ceil_div(block_size, t.wave_size));
}

}  // namespace tilewright::arch
