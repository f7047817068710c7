// SPDX-License-Identifier: MIT
// Compiles, although it says that it must not: the harness must complain.
// EXPECT: anything
static_assert(sizeof(char) == 1);
