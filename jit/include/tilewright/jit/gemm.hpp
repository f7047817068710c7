// SPDX-License-Identifier: MIT
// jit::gemm(problem): the GEMM kernel for one problem, as a request to a jit::compiler.
#pragma once

#include <cstddef>
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
  /// A choice, such as "128x128", "128x128, split_k 4", "128x128, stream_k 304" (with the number of blocks of
  /// stream_k_gemm), for Hopper a name of gemm_autotune's choices. Empty: the first that rank_gemm finds. args.split_k
  /// is 1, a number that the kernel must have, or 0: the choice says it, and the launch has a workspace.
  std::string policy = {};
  bool has_gate = false;  // C = silu(A B) (A B2), B2 as args.product_stride_b says; no epilogue
  /// Lengths, strides, split_k and beta are arguments of a launch for AMD GPUs, too, vectors have 16 bytes or one
  /// element, the kernel applies any epilogue, and for Hopper the tile is one of hopper_gemm_tiles: few kernels serve
  /// all problems of these types.
  bool for_all_lengths = false;
};

/// For AMD GPUs, and with split_k, the kernel takes gemm_args with the same lengths and strides, and refuses others.
/// For NVIDIA GPUs it takes all that its vector and its tile allow. On a Hopper GPU its workspace, if it has one, is a
/// hopper_gemm_workspace; with split_k it is of workspace_bytes(args).
kernel_request gemm(const gemm_problem& problem);

/// A kernel that can compute a problem.
struct gemm_candidate {
  std::string kernel;                ///< its name, without lengths that are constants
  std::string choice;                ///< for gemm_problem::policy
  std::string reason;                ///< why it is at its place in the list
  index_t split_k = 1;               ///< gemm_args::split_k of launches
  long_index_t workspace_bytes = 0;  ///< of gemm_args::workspace, whose counters are 0 at first; 0: none
};

/// The kernels that can compute a problem on a target ("sm_90" is taken for sm_90a), the one with the shortest
/// predicted time first; with a policy, that one. Throws error, with a sentence, if there is none.
std::vector<gemm_candidate> rank_gemm(const gemm_problem& problem, const std::string& target);

class compiler;

/// The problem with the policy that gemm_autotune found the fastest on this GPU, where the text "tuning" of one of the
/// compiler's archives knows it. Without a GPU: with the first that the text has for any.
gemm_problem tuned(const compiler& by, const gemm_problem& problem);

/// The problem with the policies that are worth timing on a target, at most `most`: those that rank_gemm puts first, of
/// which few differ in their clusters and splits alone.
std::vector<gemm_problem> policies_to_time(const gemm_problem& problem, const std::string& target, std::size_t most);

/// The problem with the policy that is the fastest on this machine's Hopper GPU, by time: of those, and then of tiles
/// around the fastest of them. Compiles them, and takes memory on the GPU for operands that do not stay in L2. The
/// problem's pointers say what is aligned; a launch has a workspace. Throws error on other GPUs.
gemm_problem fastest_gemm(compiler& by, const gemm_problem& problem);

/// The name of a problem in tuning files, as tilewright::tuning_name() has it.
std::string tuning_name_of(const gemm_problem& problem);

/// The problem with each policy that such a text has for it, of any GPU: what an archive should hold.
std::vector<gemm_problem> tuned(std::string_view tuning_text, const gemm_problem& problem);

}  // namespace tilewright::jit
