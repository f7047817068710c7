// SPDX-License-Identifier: MIT
// More experts and choices than LDS has room for, and logits of one byte.
// EXPECT(2): choose_experts: MostExperts and MostChoices are 1 to 2048
// EXPECT: choose_experts: logits have 2 or 4 bytes
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/routing/choose_experts.hpp>

static_assert(tilewright::choose_experts<tilewright::arch::sm90, float, 2049>::lds_bytes > 0);
static_assert(tilewright::choose_experts<tilewright::arch::sm90, float, 64, 4, 2049>::lds_bytes > 0);
static_assert(tilewright::choose_experts<tilewright::arch::sm90, signed char, 64>::lds_bytes > 0);
