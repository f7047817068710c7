// SPDX-License-Identifier: MIT
// Functions of floats by the machine's approximations, on AMD GPUs.
#pragma once

#include <tilewright/config/config.hpp>

namespace tilewright::exec {
inline namespace amdgcn {

/// 1 / (1 + exp(-x)), with a relative error of about 1e-6.
TILEWRIGHT_HD float sigmoid(float x) {
  constexpr float minus_log2_e = -1.442695041f;
  return __builtin_amdgcn_rcpf(1.0f + __builtin_amdgcn_exp2f(x * minus_log2_e));
}

}  // namespace amdgcn
}  // namespace tilewright::exec
