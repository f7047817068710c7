// SPDX-License-Identifier: MIT
// Runs the kernel on the CPU emulator. In a HIP or CUDA file: tw::launch<add>(args, {.stream = stream}).
#include <tilewright/launch/launch.hpp>

#include <cstdio>
#include <vector>

#include "add.hpp"

int main() {
  using namespace first_kernel;
  std::vector<float> x(3000, 1.0f), y(3000, 2.0f), z(3000);
  const vectors args{x.data(), y.data(), z.data(), 3000};
  int wrong = 0;
  for (const tw::arch::target* gpu : {&tw::arch::gfx942::value, &tw::arch::sm90::value}) {
    tw::launch<add, tw::arch::gfx942, tw::arch::sm90>(args, {.emulate = *gpu});
    for (float& sum : z) wrong += sum != 3.0f, sum = 0;
  }
  std::printf("%d of 6000 sums are wrong\n", wrong);
  return wrong;
}
