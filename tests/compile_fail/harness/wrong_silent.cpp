// SPDX-License-Identifier: MIT
// Says nothing about what is expected: the harness must complain.
static_assert(sizeof(int) == 42, "the answer is wrong");
