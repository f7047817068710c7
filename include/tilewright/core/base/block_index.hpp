// SPDX-License-Identifier: MIT
// The position of a block in its grid.
#pragma once

#include <tilewright/core/base/index.hpp>

namespace tilewright::exec {

/// Position of a block in the grid, or the grid's size, in blocks.
struct block_index {
  index_t x = 1, y = 1, z = 1;  ///< positions or numbers of blocks along three dimensions
  friend constexpr bool operator==(const block_index&, const block_index&) = default;
};

/// An offset in bytes that is outside every global_buffer: a load from it gives zeros, a store to it is dropped.
inline constexpr index_t out_of_bounds_offset = -2147483647 - 1;

}  // namespace tilewright::exec

namespace tilewright {

/// Size of a grid in blocks: what kernels return from grid().
using grid_size = exec::block_index;

}  // namespace tilewright
