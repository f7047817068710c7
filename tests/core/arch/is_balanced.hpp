// SPDX-License-Identifier: MIT
// What must hold for any lane map.
#pragma once

#include <tilewright/core/arch/lane_map.hpp>

namespace tilewright::arch {

/// Every element of the extent has as many owners as every other one: the replicated lanes' number.
constexpr bool is_balanced(const lane_map& map) {
  index_t replicas = 1;
  unsigned rows = 0, cols = 0;
  for (index_t part = 0; part < 2; ++part) {
    for (const lane_map_bit& b : part == 0 ? map.lane : map.reg) {
      if (b.of == lane_map_bit::coordinate::none) {
        replicas *= 2;
        continue;
      }
      unsigned& seen = b.of == lane_map_bit::coordinate::row ? rows : cols;
      if (seen >> b.bit & 1u) return false;
      seen |= 1u << b.bit;
    }
  }
  const matrix_position e = map.extent();
  return (rows & (rows + 1)) == 0 && (cols & (cols + 1)) == 0 &&
         e.row * e.col * replicas == map.num_lanes() * map.num_registers();
}

}  // namespace tilewright::arch
