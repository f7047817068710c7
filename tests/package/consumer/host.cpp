// SPDX-License-Identifier: MIT
// Launches a kernel on the CPU emulator.
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

/// Sum of the thread ids that a wave has, computed by the threads through LDS.
int sum_on_the_cpu_emulator() {
  int sum = 0;
  tw::emulator::launch({.target = &tw::arch::gfx942::value, .grid = {1, 1, 1}, .block_size = 64, .lds_bytes = 256},
                       [&] {
                         const tw::exec::lds_pointer lds = tw::exec::lds_allocate<256>();
                         tw::exec::lds_store(lds, tw::exec::thread_id() * 4, tw::exec::thread_id());
                         tw::exec::block_sync();
                         if (tw::exec::thread_id() != 0) return;
                         for (int i = 0; i < 64; ++i) sum += tw::exec::lds_load<int>(lds, i * 4);
                       });
  return sum;
}
