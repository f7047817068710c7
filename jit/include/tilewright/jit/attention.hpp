// SPDX-License-Identifier: MIT
// jit::attention(problem): the attention kernel for one problem, as a request to a jit::compiler.
#pragma once

#include <optional>

#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/backward/backward_args.hpp>
#include <tilewright/kernels/attention/decode/decode_args.hpp>

namespace tilewright::jit {

/// What a kernel is made for.
struct attention_problem {
  element type = element::f16;          // or bf16
  int head_dim = 128, value_dim = 128;  // of Q and K, of V and O: multiples of 32 up to 256, or 384 or 512
  /// Lengths, heads, strides, the window and the scale become constants of the kernel. It matters which of the
  /// optional pointers are null. With a block mask these are arguments of a launch.
  attention_args args = {};
  /// Lengths, strides, window and scale are arguments of a launch for all targets: a kernel serves all problems with
  /// these types and head dimensions. On Hopper it is that of long sequences, or of short ones, as args says.
  bool for_all_lengths = false;
};

/// The kernel takes attention_args with the same lengths, strides, window and scale, and refuses others; on Hopper, and
/// with for_all_lengths, it takes all.
kernel_request attention(const attention_problem& problem);

/// Gradients of attention. One kernel serves all problems with its type and head dimensions: lengths, strides, window
/// and scale are arguments. Null pointers of `args` are those that launches will have.
struct attention_backward_problem {
  element type = element::f16;          // or bf16
  int head_dim = 128, value_dim = 128;  // of Q and K, of V and O: multiples of 32 up to 256
  attention_backward_args args = {};
};
kernel_request attention_backward(const attention_backward_problem& problem);
/// Bytes that args.workspace must have on a target, "gfx942" or "sm_90a".
long_index_t workspace_bytes(const attention_backward_problem& problem, const std::string& target);

/// Attention with few queries and a long, or paged, cache of keys. One kernel serves all problems with its type and
/// head dimensions. q, k, v, o, the scales and the workspace of `args` may be null until they are launched. args.splits
/// of a launch: args.choose_splits(SMs), or args.shares: args.choose_shares(SMs); its workspace: workspace_bytes(args,
/// value_dim).
struct attention_decode_problem {
  element type = element::f16;          // or bf16
  int head_dim = 128, value_dim = 128;  // of Q and K, of V and O: multiples of 32 up to 256, or 384 or 512
  /// Elements of K and V: those of Q where nothing is given, else fp8 (e4m3) or i8, with scales.
  std::optional<element> cache_type = {};
  /// Latent attention (MLA): V is the first columns of K, and args.v of launches is args.k. Head dimensions up to 576
  /// and 512; for these two the kernel for sm_90a uses wgmma, and takes pages of 1 row: a list of rows.
  bool is_latent = false;
  attention_decode_args args = {};
};
kernel_request attention_decode(const attention_decode_problem& problem);
/// For args.choose_splits(SMs, rows of a block).
index_t rows_of_block(const attention_decode_problem& problem, const std::string& target);

}  // namespace tilewright::jit
