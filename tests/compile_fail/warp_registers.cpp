// SPDX-License-Identifier: MIT
// More and fewer registers than a warp may have.
// EXPECT: warpgroup_reg_dealloc: 24 to 256 registers, a multiple of 8
// EXPECT: warpgroup_reg_dealloc: 24 to 256 registers, a multiple of 8
#include <tilewright/machine/exec/hopper.hpp>

void warp_registers() {
  tilewright::exec::warpgroup_reg_dealloc<264>();
  tilewright::exec::warpgroup_reg_dealloc<16>();
}
