// SPDX-License-Identifier: MIT
// What is known of the kernels for AMD GPUs before anything runs.
#pragma once

#include <cstdint>
#include <string>

namespace gemm_program {

/// The static report of a target's named kernels for f16, A row-major and B column-major, and the choice for a problem.
/// Throws refusal for targets without a published GPU.
std::string explain(const std::string& target, std::int64_t m, std::int64_t n, std::int64_t k);

/// The choices for 40 problems, as a table.
std::string explain_shapes(const std::string& target);

}  // namespace gemm_program
