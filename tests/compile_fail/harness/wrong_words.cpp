// SPDX-License-Identifier: MIT
// Refused for another reason than it says: the harness must complain.
// EXPECT: too much LDS
static_assert(sizeof(int) == 42, "the answer is wrong");
