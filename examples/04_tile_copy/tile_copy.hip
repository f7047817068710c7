// SPDX-License-Identifier: MIT
// The same kernel for GPUs; each device pass takes the size of its own waves.
#include "tile_copy.hpp"

#include <tilewright/core/arch/current.hpp>

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void copy_tiles(
    [[maybe_unused]] tile_copy_example::matrices args) {
#if TILEWRIGHT_DEVICE_PASS
  using namespace tile_copy_example;
  tile_copy<swizzled_rows, tw::arch::current::value.wave_size>{}(args);
#endif
}
