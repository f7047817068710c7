// SPDX-License-Identifier: MIT
// permute, elementwise, reduce: copies in another order, functions of elements, sums along dimensions.
#pragma once

#include <string>

#include <tilewright/kernels/tensor/reduce_state.hpp>
#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct map_options {
  void* stream = nullptr;  ///< as in gemm_options
};

/// y = x, element by element, for tensors of equal lengths and types and any strides: permutations, slices, copies.
/// They share no memory.
void permute(const tensor& y, const tensor& x, const map_options& options = {});

/// y = the value of a C++ expression of x, such as "x * x + 1", or of x and x2 where that has data: floats that become
/// elements of y. Tensors have equal lengths and any strides; x2 has the type of x. y may be x or x2, with the same
/// strides and elements as long, and shares no other memory with them. Each expression is a kernel.
void elementwise(const tensor& y, const tensor& x, const std::string& expression, const tensor& x2 = {},
                 const map_options& options = {});

struct reduce_options {
  reduce_kind kind = reduce_kind::sum;  ///< sum, mean or maximum
  void* stream = nullptr;               ///< as in gemm_options
};

/// y = the sum, mean or maximum of x along the dimensions of which y has length 1. x: f16, bf16 or f32; y: the same
/// type, or f32, and as many dimensions.
void reduce(const tensor& y, const tensor& x, const reduce_options& options = {});

}  // namespace tilewright::ops
