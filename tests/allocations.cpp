// SPDX-License-Identifier: MIT
// Makes accesses behind an allocation faults of the CPU emulator, in every test of a program.
#include <tilewright/machine/emulator/allocations.hpp>
