// SPDX-License-Identifier: MIT
// A copy of three bytes for each lane.
// EXPECT: async_load_to_lds: one copy moves 1, 2, 4, 8 or 16 bytes for each lane
#include <tilewright/exec/exec.hpp>

namespace exec = tilewright::exec;

void f(const exec::global_buffer& from, exec::lds_pointer to) { exec::async_load_to_lds<3>(from, 0, to, 0); }
