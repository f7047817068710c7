// SPDX-License-Identifier: MIT
// Is refused, although it says that it compiles: the harness must complain.
// EXPECT_OK
static_assert(sizeof(int) == 42, "the answer is wrong");
