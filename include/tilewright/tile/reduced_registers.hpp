// SPDX-License-Identifier: MIT
// Which register of a tile that lacks some dimensions belongs to a register of the tile that has them.
#pragma once

#include <tilewright/tile/get_partition_index.hpp>

namespace tilewright::detail {

/// For each register of a tile, that of the tile without dimensions Dims, whose encoding is reduce(encoding, dims).
template <class Distribution, class Reduced, index_t... Dims>
inline constexpr auto reduced_registers = [] {
  array<index_t, Distribution::num_elements> result{};
  for (index_t d = 0; d < Distribution::num_elements; ++d) {
    const auto y = y_of_register<Distribution>(d);
    index_t r = 0;
    for (index_t i = 0; i < Distribution::ndim_y; ++i) {
      const index_t x = Distribution::encoding.y[i].major - 1;
      if (((x != Dims) && ...)) r = r * Distribution::get_y_length(i) + y[i];
    }
    result[d] = r;
  }
  return result;
}();

}  // namespace tilewright::detail
