// SPDX-License-Identifier: MIT
// Functions of floats by the machine's approximations, on NVIDIA GPUs.
#pragma once

#include <tilewright/config/config.hpp>

namespace tilewright::exec {
inline namespace nvptx {

/// 1 / (1 + exp(-x)), with a relative error of about 1e-6.
TILEWRIGHT_HD float sigmoid(float x) {
  constexpr float minus_log2_e = -1.442695041f;
  float power, result;
  asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(x * minus_log2_e));
  asm("rcp.approx.f32 %0, %1;" : "=f"(result) : "f"(1.0f + power));
  return result;
}

}  // namespace nvptx
}  // namespace tilewright::exec
