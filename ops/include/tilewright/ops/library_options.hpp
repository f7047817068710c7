// SPDX-License-Identifier: MIT
// library_options: where the calls of tilewright::ops find kernels.
#pragma once

#include <string>

#include <tilewright/jit/compiler.hpp>

namespace tilewright::ops {

struct library_options {
  /// Cache, archives, compiler, and what happens to kernels that are missing. `target` and `device` are not read: calls
  /// ask the device of their stream. The archives of the environment variable TILEWRIGHT_ARCHIVES, separated by colons,
  /// come after those given here.
  jit::compiler_options jit = {};
  /// A target such as "gfx942" or "sm_90": calls run to their end on the CPU emulator, with kernels that are compiled
  /// into the program for it (tilewright_add_kernels), and tensors are host memory. Empty: the environment variable
  /// TILEWRIGHT_EMULATE, and if that is empty the GPU.
  std::string emulate = {};
};

/// Takes the place of earlier options, and drops loaded kernels and workspaces. Calls that are in flight in other
/// threads end as they began; call it before the first operation, or while the GPU works on none.
void configure(const library_options& options);

/// Frees the workspaces of a stream that is about to be destroyed; waits for the device. Without this, they live as
/// long as the process.
void release_workspaces(void* stream);

}  // namespace tilewright::ops
