// SPDX-License-Identifier: MIT
// Functions of floats for the host half of a HIP or CUDA compilation; only constant expressions need max and min.
#pragma once

#include <tilewright/config/config.hpp>

namespace tilewright::exec::inline stub {

TILEWRIGHT_HD float exp2(float) { __builtin_trap(); }
TILEWRIGHT_HD float log2(float) { __builtin_trap(); }
TILEWRIGHT_HD float rcp(float) { __builtin_trap(); }
TILEWRIGHT_HD float rsqrt(float) { __builtin_trap(); }
TILEWRIGHT_HD float tanh(float) { __builtin_trap(); }
TILEWRIGHT_HD float abs(float) { __builtin_trap(); }
TILEWRIGHT_HD constexpr float max_f32(float a, float b) { return a != a || a < b ? b : a; }
TILEWRIGHT_HD constexpr float min_f32(float a, float b) { return a != a || b < a ? b : a; }

}  // namespace tilewright::exec::inline stub
