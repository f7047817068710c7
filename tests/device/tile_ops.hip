// SPDX-License-Identifier: MIT
// Every tile operation, compiled for each GPU.
#include "tile_ops.hpp"

extern "C" TILEWRIGHT_GLOBAL void run_tile_ops(tile_ops::arguments args) {
#if TILEWRIGHT_DEVICE_PASS
  tile_ops::run<tilewright::arch::current::value.wave_size>(args);
#endif
}
