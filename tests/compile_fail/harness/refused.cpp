// SPDX-License-Identifier: MIT
// The harness can tell that a source is refused in the words expected; semicolons,
// brackets and quotes included, and that often.
// EXPECT: the answer [42]; is wrong "here"
// EXPECT(2): sizes differ
// EXPECT(gcc 3): static assertion failed
// EXPECT(clang 3): static assertion failed due to requirement
static_assert(sizeof(int) == 42, "the answer [42]; is wrong \"here\"");
static_assert(sizeof(char) == sizeof(int), "sizes differ");
static_assert(sizeof(int) == sizeof(char), "sizes differ");
