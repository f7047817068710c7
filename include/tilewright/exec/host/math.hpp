// SPDX-License-Identifier: MIT
// Functions of floats on the CPU; docs/machine.md has their error bounds.
#pragma once

#include <tilewright/config/config.hpp>

namespace tilewright::exec::inline host {

inline float exp2(float x) { return __builtin_exp2f(x); }
inline float log2(float x) { return __builtin_log2f(x); }
inline float rcp(float x) { return 1.0f / x; }
inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
inline float tanh(float x) { return __builtin_tanhf(x); }
inline float abs(float x) { return __builtin_fabsf(x); }
constexpr float max_f32(float a, float b) { return a != a || a < b ? b : a; }
constexpr float min_f32(float a, float b) { return a != a || b < a ? b : a; }

}  // namespace tilewright::exec::inline host
