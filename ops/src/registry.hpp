// SPDX-License-Identifier: MIT
// The kernels that are compiled into the program.
#pragma once

#include <string>

#include <tilewright/ops/compiled_kernel.hpp>

namespace tilewright::ops {

/// Null if there is none. The kernel lives as long as the process.
const compiled_kernel* find_compiled(const std::string& target, const std::string& name);

/// Names of those of a target, separated by commas; the first few of many.
std::string compiled_names(const std::string& target);

}  // namespace tilewright::ops
