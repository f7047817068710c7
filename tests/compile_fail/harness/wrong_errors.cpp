// SPDX-License-Identifier: MIT
// Two errors in place of one: the harness must complain.
// EXPECT: the answer is wrong
// EXPECT_ERRORS: 1
static_assert(sizeof(int) == 42, "the answer is wrong");
int* pointer = 1.5;
