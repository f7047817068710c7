// SPDX-License-Identifier: MIT
// Says twice in place of once why it is refused: the harness must complain.
// EXPECT: the answer is wrong
static_assert(sizeof(int) == 42, "the answer is wrong");
static_assert(sizeof(char) == 2, "the answer is wrong");
