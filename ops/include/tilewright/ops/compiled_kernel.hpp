// SPDX-License-Identifier: MIT
// compiled_kernel: a kernel that is part of the program, as the calls of tilewright::ops find it.
#pragma once

#include <cstddef>
#include <string>

namespace tilewright::ops {

/// Functions take the operation's kernel arguments, such as gemm_args.
struct compiled_kernel {
  std::string target;                                ///< as explanation::target: "gfx942, CPU emulator"
  std::string name;                                  ///< as explanation::kernel has it: operation, tile, types, orders
  std::size_t args_bytes = 0;                        ///< size of the arguments
  const char* (*check)(const void* args) = nullptr;  ///< a sentence that refuses them; null: none
  void (*launch)(const void* args, void* stream) = nullptr;  ///< throws an exception that says why it failed
};

/// Makes a kernel known; a later one of the same target and name takes its place. Before the first call that needs it:
/// calls remember which kernel they found.
void register_kernel(const compiled_kernel& kernel);

}  // namespace tilewright::ops
