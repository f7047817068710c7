// SPDX-License-Identifier: MIT
// jit::grouped_gemm(problem): GEMM for groups whose lengths are on the device (MoE), as a request to a jit::compiler.
#pragma once

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/kernels/gemm/grouped/expert_gemm.hpp>

namespace tilewright::jit {

/// What a kernel is made for, as grouped_args says.
struct grouped_problem {
  element type = element::f16;              // of A and B
  element result = element::f16;            // of C
  bool a_along_k = true, b_along_k = true;  // whether k is the contiguous dimension of A (m x k), of B (k x n)
  group_kind groups = group_kind::rows;     // what they divide: rows, or k
  bool for_all_lengths = false;  // for Hopper the tile is one of grouped_tiles: few kernels serve all problems
  /// Lengths choose the tile; a kernel serves all lengths that its vector allows. Of the pointers a, b and c, null ones
  /// count as multiples of 16 bytes. One of ends and counts must be given, if only as given_later(). Scales, bias,
  /// residual and activation that are given here are what the kernel applies.
  grouped_args args = {};
};

/// One of the two GEMMs of an expert layer, as expert_args says.
struct expert_problem {
  element type = element::bf16;    // of A and B
  element result = element::bf16;  // of C
  bool is_gate_up = true;          // expert_gate_up, else expert_down
  bool gathers = true;             // expert_gate_up: rows of A are where `source` says, else in order
  bool b_along_k = true;
  expert_args args = {};  // as grouped_problem::args; ends and source count as given
};

/// The kernel takes expert_args.
kernel_request expert_gemm(const expert_problem& problem);

/// The kernel takes grouped_args. On a Hopper GPU its workspace, if it has one, is a hopper_gemm_workspace.
kernel_request grouped_gemm(const grouped_problem& problem);

/// Groups of rows of fp8 operands that are contiguous along k, with scales for blocks of 128 along k.
struct block_scaled_problem {
  element result = element::bf16;  // of C: f16, bf16 or f32; the kernels for Hopper write bf16
  /// As in grouped_problem; scales may be null until the launch. Without groups (args.groups = 0) it is one GEMM, or a
  /// batch, whose k args.split_k blocks share; choose_block_scaled_tile() says how many suit an MI300X or MI355X.
  block_scaled_args args = {};
  /// stream_k_gemm, without groups: args.split_k is the number of its blocks, and the workspace is of
  /// stream_k_workspace_bytes.
  bool stream_k = false;
};

/// The kernel takes block_scaled_args.
kernel_request block_scaled_gemm(const block_scaled_problem& problem);

}  // namespace tilewright::jit
