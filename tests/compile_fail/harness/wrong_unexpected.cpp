// SPDX-License-Identifier: MIT
// Says something else, too: the harness must complain.
// EXPECT: the answer is wrong
static_assert(sizeof(int) == 42, "the answer is wrong");
static_assert(sizeof(char) == 2, "and so is another one");
