// SPDX-License-Identifier: MIT
// The file that is compiled for a kernel_source.
#pragma once

#include <string>

#include <tilewright/jit/kernel_source.hpp>

#include "toolchain.hpp"

namespace tilewright::jit {

/// Throws error if the name is no identifier.
translation_unit make_unit(const kernel_source& source);

/// The name of the function for followed_by.
std::string follower_name(const std::string& kernel, int i);

/// A request that remembers what `make` says about a target.
kernel_request remembered(kernel_request make);

}  // namespace tilewright::jit
