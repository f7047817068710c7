// SPDX-License-Identifier: MIT
// More experts than a lane chooses among.
// EXPECT: choose_experts: MostExperts is 1 to 2048
#include <tilewright/arch/arch.hpp>
#include <tilewright/rows/choose_experts.hpp>

static_assert(tilewright::choose_experts<tilewright::arch::sm90, float, 2049>::lds_bytes > 0);
