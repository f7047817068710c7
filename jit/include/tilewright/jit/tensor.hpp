// SPDX-License-Identifier: MIT
// Kernels on tensors of up to six dimensions (permutations, element-wise functions, reductions) as requests to a
// jit::compiler.
#pragma once

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/element_function.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/kernels/tensor/map_tensor.hpp>
#include <tilewright/kernels/tensor/reduce_block.hpp>

namespace tilewright::jit {

// Lengths, strides and pointers are arguments of a launch. Null pointers count as aligned, except optional ones. A
// request throws error with the message of check() where no kernel can compute the problem. Kernels take the type of
// `args`, or the same with element types.

/// y = x with the dimensions in another order, or a slice of either; bits are moved as they are. The lengths and
/// strides choose among several kernels, which refuse tensors of another kind.
struct permute_problem {
  int element_bytes = 2;  // 1, 2, 4 or 8
  map_args<void, void> args = {};
};
kernel_request permute(const permute_problem& problem);

/// y = f(x), or f(x, x2) where args.x2 has dimensions. One kernel for all tensors of these types.
struct elementwise_problem {
  element type = element::f16;     // of x and x2
  element result = element::f16;   // of y
  element_function function = {};  // the default copies and casts
  map_args<void, void> args = {};
};
kernel_request elementwise(const elementwise_problem& problem);

/// y = the sum, mean or maximum of x along the dimensions of which y has one element. One kernel for all tensors of
/// these types.
struct reduce_problem {
  element type = element::f16;    // f16, bf16 or f32
  element result = element::f32;  // the same, or f32
  reduce_kind kind = reduce_kind::sum;
  reduce_args<void, void> args = {};
};
kernel_request reduce(const reduce_problem& problem);
/// Bytes of args.workspace that let all of a target's GPU work on few results; 0: there is nothing to gain.
long_index_t workspace_bytes(const reduce_problem& problem, const std::string& target);

}  // namespace tilewright::jit
