// SPDX-License-Identifier: MIT
// Which of the program's kernels to launch.
#pragma once

#include <string>

#include <tilewright/kernels/attention/backward/backward_args.hpp>

namespace attention_program {

struct kernel_choice {
  bool is_f16, is_fp8;  // else bf16
  int dim;              // head dimension: 64, 128 or 256
  bool for_hopper;      // for Hopper, else portable
  bool backward = false;
};

/// Queues the kernel on the GPU. Returns why it was refused; empty if it was not.
std::string queue_attention(const kernel_choice& choice, const tilewright::attention_backward_args& args);

}  // namespace attention_program
