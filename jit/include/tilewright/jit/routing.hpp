// SPDX-License-Identifier: MIT
// Routing of tokens to experts (MoE) as requests to a jit::compiler: choices, their order, rows to experts and back.
#pragma once

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/kernels/routing/choose_experts.hpp>
#include <tilewright/kernels/routing/choose_experts_gradient.hpp>
#include <tilewright/kernels/routing/expert_activation.hpp>
#include <tilewright/kernels/routing/expert_column_sums.hpp>
#include <tilewright/kernels/routing/expert_dots.hpp>
#include <tilewright/kernels/routing/expert_rows.hpp>
#include <tilewright/kernels/routing/routed_chunk.hpp>

namespace tilewright::jit {

// Numbers of tokens, strides and pointers are arguments of a launch. Null pointers count as aligned, except optional
// ones. A request throws error with the sentence of check() where no kernel can compute the problem.

/// A kernel has room for some more experts than the problem has, and for 16 choices or more.
struct choose_experts_problem {
  element type = element::f32;  // of the logits: f16, bf16 or f32
  choose_experts_args<void> args = {};
};
kernel_request choose_experts(const choose_experts_problem& problem);

/// The kernel takes choose_experts_gradient_args.
struct choose_experts_gradient_problem {
  element type = element::f32;  // of the logits and their gradient: f16, bf16 or f32
  choose_experts_gradient_args<void> args = {};
};
kernel_request choose_experts_gradient(const choose_experts_gradient_problem& problem);

struct order_by_expert_problem {
  order_by_expert_args args = {};
};
kernel_request order_by_expert(const order_by_expert_problem& problem);
/// Bytes of args.counts.
long_index_t workspace_bytes(const order_by_expert_problem& problem);

struct expert_rows_problem {
  element type = element::f16;  // f16, bf16 or f32
  expert_rows_kind kind = expert_rows_kind::scatter;
  expert_rows_args<void> args = {};  // weight: optional
};
kernel_request expert_rows(const expert_rows_problem& problem);

/// One of the GEMMs of experts for one token; the kernel takes expert_dots_args.
struct expert_dots_problem {
  element type = element::bf16;  // f16 or bf16
  expert_dots_kind kind = expert_dots_kind::gate_up;
  expert_dots_args<void> args = {};  // bias: optional
};
kernel_request expert_dots(const expert_dots_problem& problem);
/// Whether there is such a kernel for the problem.
bool can_take_dots(const expert_dots_problem& problem);

/// SwiGLU between GEMMs, or its gradient; the kernel takes expert_activation_args.
struct expert_activation_problem {
  element type = element::bf16;  // f16, bf16 or f32
  bool is_gradient = false;
  expert_activation_args<void> args = {};  // bias: optional
};
kernel_request expert_activation(const expert_activation_problem& problem);

/// The kernel takes expert_column_sums_args.
struct expert_column_sums_problem {
  element type = element::bf16;  // f16, bf16 or f32
  expert_column_sums_args<void> args = {};
};
kernel_request expert_column_sums(const expert_column_sums_problem& problem);

}  // namespace tilewright::jit
