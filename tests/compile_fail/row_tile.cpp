// SPDX-License-Identifier: MIT
// Blocks that rows cannot be given to.
// EXPECT: row_tile: a block has whole waves and at most 1024 threads
// EXPECT: row_tile: threads_per_row is a power of two that divides the threads
// EXPECT: row_tile: a thread holds at least one vector, of up to 16 elements
// EXPECT: row_tile: unaligned rows need 4 * vector threads each
#include <tilewright/block/rows/row_block.hpp>
#include <tilewright/core/arch/arch.hpp>

namespace tw = tilewright;

static_assert(tw::detail::require_row_tile<tw::arch::gfx942, tw::row_tile{96, 32, 1, 8}>());
static_assert(tw::detail::require_row_tile<tw::arch::gfx942, tw::row_tile{256, 96, 1, 8}>());
static_assert(tw::detail::require_row_tile<tw::arch::gfx942, tw::row_tile{256, 64, 0, 8}>());
static_assert(tw::detail::require_row_tile<tw::arch::gfx942, tw::row_tile{256, 16, 1, 8, 1, true}>());
