// SPDX-License-Identifier: MIT
// Says once in place of twice why it is refused: the harness must complain.
// EXPECT(2): the answer is wrong
static_assert(sizeof(int) == 42, "the answer is wrong");
static_assert(sizeof(char) == 1, "the answer is wrong");
