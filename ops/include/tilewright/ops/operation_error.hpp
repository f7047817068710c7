// SPDX-License-Identifier: MIT
// The error that the calls of tilewright::ops throw.
#pragma once

#include <stdexcept>
#include <string>

namespace tilewright::ops {

/// Who is at fault.
enum class fault_kind {
  wrong_call = 1,  ///< the arguments: the sentence says which, and what to do
  no_device,       ///< there is no GPU and no CPU emulator was asked for
  no_kernel,       ///< no provider has a kernel: none is compiled in, and none could be compiled
  device_failed,   ///< the driver's message
};

/// A call was refused or could not start: nothing was queued and nothing was written. what() is one sentence that
/// begins with the operation's name and says what is wrong and what to do.
struct operation_error : std::runtime_error {
  operation_error(fault_kind k, const std::string& sentence) : std::runtime_error(sentence), kind(k) {}
  fault_kind kind;
};

}  // namespace tilewright::ops
