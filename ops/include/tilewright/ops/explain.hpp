// SPDX-License-Identifier: MIT
// explain: what a call would run, and why.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tilewright/core/base/types.hpp>

namespace tilewright::ops {

/// One kernel that a call would launch.
struct explanation {
  std::string operation = {};        ///< the call's name
  std::string target = {};           ///< "gfx942"; "gfx942, CPU emulator"
  std::string kernel = {};           ///< name of the kernel
  std::string choice = {};           ///< what the options' `choice` takes to fix it; empty: there is none to make
  std::string reason = {};           ///< why this choice, in a few words
  std::string provider = {};         ///< "compiled into the program", "an archive" or "jit"
  long_index_t workspace_bytes = 0;  ///< of scratch memory that the call uses
};

/// What the calls that `calls` makes would launch. They are validated, and their kernels are made ready (compiled, if
/// they must be); nothing is queued, and tensors are not read. Throws operation_error as the calls do. Of this thread
/// only.
std::vector<explanation> explain(const std::function<void()>& calls);

}  // namespace tilewright::ops
