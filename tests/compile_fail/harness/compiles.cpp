// SPDX-License-Identifier: MIT
// The harness can tell that a source compiles.
// EXPECT_OK
#include <tilewright/version.hpp>

static_assert(TILEWRIGHT_VERSION >= 100);
