// SPDX-License-Identifier: MIT
// More copies outstanding than a counter holds.
// EXPECT: async_wait: between 0 and 63 copies may be outstanding
#include <tilewright/exec/exec.hpp>

void f() { tilewright::exec::async_wait<64>(); }
