// SPDX-License-Identifier: MIT
// The CPU emulator in a file that is compiled as HIP.
// EXPECT: the emulator runs kernels on the CPU: include it in files that are compiled as C++, not as HIP or CUDA
#define __HIP__ 1  // as the compiler of such a file does
#include <tilewright/machine/emulator/launch.hpp>
