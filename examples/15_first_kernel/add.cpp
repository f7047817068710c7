// SPDX-License-Identifier: MIT
// Runs the kernel on the CPU emulator. In a HIP or CUDA file: tw::launch<add>(args, {.stream = stream}).
#include <tilewright/launch/launch.hpp>

#include <cstdio>
#include <vector>

#include "add.hpp"

int main() {
  using namespace first_kernel;
  std::vector<float> x(3000, 1.0f), y(3000, 2.0f), z(3000);
  tw::launch<add>({x.data(), y.data(), z.data(), 3000}, {.emulate = tw::arch::sm90::value});
  int wrong = 0;
  for (const float sum : z) wrong += sum != 3.0f;
  std::printf("%d of 3000 sums are wrong\n", wrong);
  return wrong;
}
