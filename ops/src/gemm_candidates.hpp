// SPDX-License-Identifier: MIT
// The kernels that can compute a product.
#pragma once

#include <vector>

#include "call.hpp"

namespace tilewright::ops {

/// For call::choose; the problem is a jit::gemm_problem.
std::vector<candidate> choose_gemm_kernels(const void* problem, const device_facts& on);

}  // namespace tilewright::ops
