// SPDX-License-Identifier: MIT
// jit::gemm(problem): the GEMM kernel for one problem, as a request to a jit::compiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>

namespace tilewright::jit {

/// What a kernel is made for: C = alpha A B + beta C, as gemm_args says.
struct gemm_problem {
  element type = element::f16;              // of A and B
  element result = element::f16;            // of C
  bool a_along_k = true, b_along_k = true;  // whether k is the contiguous dimension of A (m x k), of B (k x n)
  /// For AMD GPUs lengths, strides, split_k and a beta of 0 become constants of the kernel. What matters of pointers is
  /// which are null and whether they are multiples of 16 bytes; null pointers a, b and c count as such. Scales, bias,
  /// residual and activation that are given here are what the kernel applies.
  gemm_args args = {};
  std::string policy = {};  // "128x128", for Hopper a name of gemm_autotune's choices; empty: chosen by the lengths
};

/// For AMD GPUs, and with split_k, the kernel takes gemm_args with the same lengths and strides, and refuses others.
/// For NVIDIA GPUs it takes all that its vector and its tile allow. On a Hopper GPU its workspace, if it has one, is a
/// hopper_gemm_workspace; with split_k it is of workspace_bytes(args).
kernel_request gemm(const gemm_problem& problem);

class compiler;

/// The problem with the policy that gemm_autotune found the fastest on this GPU, where the text "tuning" of one of the
/// compiler's archives knows it. Without a GPU: with the first that the text has for any.
gemm_problem tuned(const compiler& by, const gemm_problem& problem);

/// The problem with each policy that such a text has for it, of any GPU: what an archive should hold.
std::vector<gemm_problem> tuned(std::string_view tuning_text, const gemm_problem& problem);

}  // namespace tilewright::jit
