// SPDX-License-Identifier: MIT
// jit::attention(problem): the attention kernel for one problem, as a request to a jit::compiler.
#pragma once

#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>

namespace tilewright::jit {

/// What a kernel is made for.
struct attention_problem {
  element type = element::f16;          // or bf16
  int head_dim = 128, value_dim = 128;  // of Q and K, of V and O: multiples of 32 up to 256
  /// Lengths, heads, strides, the window and the scale become constants of the kernel. It matters which of the
  /// optional pointers are null.
  attention_args args = {};
};

/// The kernel takes attention_args with the same lengths, strides, window and scale, and refuses others.
kernel_request attention(const attention_problem& problem);

}  // namespace tilewright::jit
