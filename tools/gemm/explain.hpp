// SPDX-License-Identifier: MIT
// What is known of a target's kernels before anything runs.
#pragma once

#include <cstdint>
#include <string>

#include "kernel_entry.hpp"

namespace gemm_program {

/// The static report of a target's named kernels for f16, A row-major and B column-major, and the choice for a problem.
/// Throws refusal for targets without a published GPU.
std::string explain(const kernel_list& all, const std::string& target, std::int64_t m, std::int64_t n, std::int64_t k);

/// The choices for 40 problems, as a table.
std::string explain_shapes(const kernel_list& all, const std::string& target);

}  // namespace gemm_program
